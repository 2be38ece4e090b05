/* What is typed at the wall. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum key {
	KEY_NONE,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_ENTER,
	KEY_REDRAW,
	KEY_LEAVE
};

/* Zeroed: between two keys. */
struct key_reader {
	enum { KEY_IN_TEXT, KEY_IN_ESCAPE, KEY_IN_CSI, KEY_IN_SS3 } state;
	unsigned number; /* the first of a sequence */
	bool first;      /* it is still being read */
};

/* Take a byte. Returns the key that it ends, KEY_NONE for none. */
enum key key_take(struct key_reader *k, unsigned char byte);
