/*
 * Removes the reset at the beginning of a snapshot. It is fine for an emulator in a page, but would
 * clear the scrollback and the titles of the user's terminal. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REDRAW_HEAD_MAX 512u

/* State of the filter. Zeroed: before a snapshot. */
struct redraw {
	char head[REDRAW_HEAD_MAX]; /* the first bytes of the snapshot */
	size_t length;
	bool begun; /* the head has been returned */
};

/*
 * Filter bytes of a snapshot; last: its last ones. The terminal gets *ret_head_length bytes of
 * *ret_head, and then the given bytes from the returned offset on.
 */
size_t redraw_filter(struct redraw *r, const char *bytes, size_t length, bool last,
	const char **ret_head, size_t *ret_head_length);
