/*
 * The mouse, as a program that tracks it hears of it: xterm ctlseqs, "Mouse Tracking". Pure. As in xterm.js,
 * which people sit at, the encodings are the default, SGR (1006) and pixels (1016); a program that asks for
 * another (1005, 1015) gets the default one.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stdbool.h>
#include <stddef.h>

#define MOUSE_BYTES_MAX 32u /* of one event */

enum mouse_action { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE, MOUSE_SCROLL_UP, MOUSE_SCROLL_DOWN };

enum mouse_button { MOUSE_LEFT, MOUSE_MIDDLE, MOUSE_RIGHT, MOUSE_NO_BUTTON };

struct mouse_event {
	enum mouse_action action;
	enum mouse_button button; /* with a move: which is held, if any */
	unsigned row, col;        /* from 1 */
	unsigned modifiers;       /* of enum key_modifier */
};

/* Whether the program hears of the mouse, in a form that is known here: pixels of a cell are not. */
bool mouse_is_tracked(const struct screen_modes *modes);

/*
 * What the terminal sends. Returns the number of bytes; 0 when the protocol does not report it, or the default
 * encoding cannot (columns and rows beyond 223).
 */
size_t mouse_encode(const struct mouse_event *event, const struct screen_modes *modes,
	char ret_bytes[MOUSE_BYTES_MAX]);
