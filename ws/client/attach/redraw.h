/*
 * A snapshot, as the user's own terminal gets it: it begins with a reset that an emulator in a page may have,
 * but that takes the scrollback and the titles of this one along. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REDRAW_HEAD_MAX 512u

struct redraw {
	char head[REDRAW_HEAD_MAX]; /* what has come, until it is known how the snapshot begins */
	size_t length;
	bool begun; /* it is known */
};

/*
 * Take bytes of a snapshot, the last of them if last. Returns what goes to the terminal: *ret_head, of
 * *ret_head_length bytes, and then of the bytes given those from the returned offset on.
 */
size_t redraw_take(struct redraw *r, const char *bytes, size_t length, bool last,
	const char **ret_head, size_t *ret_head_length);
