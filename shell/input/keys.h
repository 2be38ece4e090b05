/*
 * Keys by their tmux names, and the bytes that a terminal sends for them in the modes that a
 * program has set. Pure.
 *
 * Sources: xterm's ctlseqs and modified-keys, and
 * https://sw.kovidgoyal.net/kitty/keyboard-protocol/.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#define KEYS_BYTES_MAX 64u /* of one key: its press, and its release if the program wants that */

/* Modifiers, with the values of CSI 1 ; 1 + modifiers A. */
enum key_modifier { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4 };

/* Codes of keys that are not characters. The code of a character is its code point. */
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

/* A key with its modifiers. */
struct key {
	uint32_t code;
	unsigned modifiers; /* of enum key_modifier */
};

/*
 * Parse the name of a key: any of C- M- S- in any order, then a name (Enter, Up, F5, PageDown, KP7
 * ...; case is ignored), ^x for Control, or the character itself. Returns false otherwise.
 */
bool keys_parse(const char *name, size_t length, struct key *ret_key);

/*
 * The bytes that a terminal sends for a key. A modifier that the mode cannot express is dropped, as
 * terminals do. Without the kitty protocol F13 to F24 are F1 to F12 with Shift, as in terminfo's
 * xterm-256color.
 *
 * line: the kernel's line settings, see termios(3); NULL: not known. Control characters that the
 * kernel handles itself (C-c, C-\ and C-z with ISIG, C-d with ICANON) are sent unencoded in all
 * modes: with these settings the program that set the modes does not read keys, or has exited.
 * Returns the number of bytes.
 */
size_t keys_encode(const struct key *key, const struct screen_modes *modes,
	const struct termios *line, char ret_bytes[KEYS_BYTES_MAX]);
