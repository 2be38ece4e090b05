/*
 * Piped: filters what commands print through pipes before it is shown in a session's terminal.
 * Piped output must not query the terminal or change how later output is shown. Inert output
 * (ring/inert.h) is shown. Anything else, and what is unfinished when another source continues, is
 * hidden: clients and the screen get NULs in its place, as for queries.
 *
 * Hidden bytes are recorded in a bitmap with a bit per byte of the ring, allocated only while there
 * are any.
 */
#pragma once

#include "ring/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The filter of one ring. */
struct piped {
	uint8_t *bits;    /* bitmap; NULL: nothing is hidden */
	size_t size;      /* bytes of the ring */
	uint64_t end;     /* offset after the newest hidden byte */
	uint64_t failed;  /* hide everything before this offset: memory was short */
	struct scan scan; /* parses what is being hidden */
};

/* Initialise for a ring of size bytes, a power of two. Allocates nothing. */
void piped_init(struct piped *p, size_t size);

/* Free the bitmap. */
void piped_finish(struct piped *p);

/* Another source begins: forget unfinished sequences. */
void piped_reset(struct piped *p);

/*
 * Filter length bytes of a pipe that begin at offset. Returns how many are done: the rest may be
 * the beginning of something shown, and must be passed again with the bytes that follow. last: no
 * bytes follow.
 */
size_t piped_feed(struct piped *p, uint64_t offset, const uint8_t *bytes, size_t length, bool last);

/* Clear the bits of length bytes that are new in the ring. */
void piped_clear(struct piped *p, uint64_t offset, size_t length);

/* Bytes before offset are no longer in the ring. */
void piped_forget(struct piped *p, uint64_t offset);

/* Replace hidden bytes by NULs in length bytes that begin at offset. */
void piped_apply(const struct piped *p, uint64_t offset, uint8_t *bytes, size_t length);
