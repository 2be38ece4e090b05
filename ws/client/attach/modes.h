/* Modes of a terminal that affect input and the cursor's shape. Pure. */
#pragma once

#include "ws/client/draw/canvas.h"

/* Mouse reports. */
enum modes_mouse { MOUSE_OFF, MOUSE_PRESSES, MOUSE_CLICKS, MOUSE_DRAGS, MOUSE_MOVES };

/* Encodings of mouse reports. */
enum modes_encoding { MOUSE_BYTES, MOUSE_SGR_CELLS, MOUSE_SGR_DOTS };

/* Zeroed: the modes after a reset. */
struct modes {
	bool application_cursor, application_keypad, bracketed_paste, focus, color_scheme;
	unsigned modify_other_keys, kitty_flags;
	enum modes_mouse mouse;
	enum modes_encoding encoding;
	unsigned cursor; /* DECSCUSR; 0: the user's default, also used for a steady block */
};

/* Parse an answer of /screen?format=json. Missing and invalid modes are off. */
struct modes modes_of(const json_t *answer);

/* Append the sequences that change the terminal's modes. */
void modes_write_changes(struct canvas *c, const struct modes *from, const struct modes *to);
