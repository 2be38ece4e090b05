/*
 * Mouse reports to a program: xterm ctlseqs, "Mouse Tracking". Pure. As in xterm.js, the encodings
 * are the default, SGR (1006) and SGR pixels (1016); modes 1005 and 1015 give the default one.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stdbool.h>
#include <stddef.h>

#define MOUSE_BYTES_MAX 32u /* of one event */

/* What happened. */
enum mouse_action { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE, MOUSE_SCROLL_UP, MOUSE_SCROLL_DOWN };

/* The button of an event. */
enum mouse_button { MOUSE_LEFT, MOUSE_MIDDLE, MOUSE_RIGHT, MOUSE_NO_BUTTON };

/* A mouse event. */
struct mouse_event {
	enum mouse_action action;
	enum mouse_button button; /* of a move: the one held down, if any */
	unsigned row, col;        /* from 1 */
	unsigned modifiers;       /* of enum key_modifier */
};

/* Whether the program tracks the mouse in a supported encoding, which SGR pixels is not. */
bool mouse_is_tracked(const struct screen_modes *modes);

/*
 * The bytes that a terminal sends for an event. Returns their number; 0 if the protocol does not
 * report the event, or the default encoding cannot (columns and rows beyond 223).
 */
size_t mouse_encode(const struct mouse_event *event, const struct screen_modes *modes,
	char ret_bytes[MOUSE_BYTES_MAX]);
