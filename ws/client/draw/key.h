/* Parses keys of full-screen views. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A key with a meaning. */
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

/* State of the parser. Zeroed: between two keys. */
struct key_reader {
	enum { KEY_IN_TEXT, KEY_IN_ESCAPE, KEY_IN_CSI, KEY_IN_SS3 } state;
	unsigned number; /* first parameter of a sequence */
	bool first;      /* that parameter is not complete yet */
};

/* Parse a byte. Returns the key that it completes, or KEY_NONE. */
enum key key_feed(struct key_reader *k, unsigned char byte);
