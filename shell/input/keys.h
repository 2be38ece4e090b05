/*
 * Keys by name, as tmux names them, and the bytes that a terminal sends for them in the modes that a program
 * has set. Pure.
 *
 * Sources: xterm's ctlseqs and modified-keys, and https://sw.kovidgoyal.net/kitty/keyboard-protocol/.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#define KEYS_BYTES_MAX 64u /* of one key: its press, and its release where a program wants that */

enum key_modifier { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4 }; /* as in CSI 1 ; 1 + modifiers A */

/* Keys that are no characters; those that are have the code point, and 9, 13, 27, 32 and 127. */
enum key_code {
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_HOME,
	KEY_END,
	KEY_INSERT,
	KEY_DELETE,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_F1,
	KEY_F24 = KEY_F1 + 23,
	KEY_KP_0,
	KEY_KP_9 = KEY_KP_0 + 9,
	KEY_KP_DECIMAL,
	KEY_KP_DIVIDE,
	KEY_KP_MULTIPLY,
	KEY_KP_SUBTRACT,
	KEY_KP_ADD,
	KEY_KP_ENTER,
	KEY_KP_EQUAL,
	KEY_KP_SEPARATOR,
	KEY_CODES_END,
};

struct key {
	uint32_t code;
	unsigned modifiers; /* of enum key_modifier */
};

/*
 * Read a name: any of C- M- S- in any order, then a name (Enter, Up, F5, PageDown, KP7 ...; case does not
 * count), ^x for Control, or one character, which is itself. Returns false when it is none of these.
 */
bool keys_parse(const char *name, size_t length, struct key *ret_key);

/*
 * What the terminal sends for it. A modifier that a mode cannot express is left out, as terminals do. F13 to
 * F24 are, without the kitty protocol, what terminfo has for xterm-256color: F1 to F12 with Shift.
 *
 * line: how the kernel takes input, see termios(3); NULL: not known. Characters that it acts on itself (C-c, C-\ and C-z with
 * ISIG, C-d with ICANON) are sent as they are in all modes: what has set those reads no keys then, or is no more.
 * Returns the number of bytes.
 */
size_t keys_encode(const struct key *key, const struct screen_modes *modes,
	const struct termios *line, char ret_bytes[KEYS_BYTES_MAX]);
