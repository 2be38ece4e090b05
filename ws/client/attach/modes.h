/* Modes of a terminal that say what it sends and how its cursor looks, as a session has them. Pure. */
#pragma once

#include "ws/client/draw/canvas.h"

enum modes_mouse { MOUSE_OFF, MOUSE_PRESSES, MOUSE_CLICKS, MOUSE_DRAGS, MOUSE_MOVES };
enum modes_encoding { MOUSE_BYTES, MOUSE_SGR_CELLS, MOUSE_SGR_DOTS };

/* Zeroed: what a terminal has that was reset. */
struct modes {
	bool application_cursor, application_keypad, bracketed_paste, focus, color_scheme;
	unsigned modify_other_keys, kitty_flags;
	enum modes_mouse mouse;
	enum modes_encoding encoding;
	unsigned cursor; /* DECSCUSR; 0: the user's own, which stands for a steady block too */
};

/* Of an answer of /screen?format=json. What it does not say, or what is no such mode, is off. */
struct modes modes_of(const json_t *answer);

/* What brings a terminal from one to the other: nothing for what is the same. */
void modes_put(struct canvas *c, const struct modes *from, const struct modes *to);
