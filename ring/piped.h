/*
 * Piped: what commands print through pipes, as it is shown among the output of a session's terminal. A pipe is no
 * terminal: nothing that comes from one may ask, or change how what the terminal gets is shown. Text, the ordinary
 * controls and the sequences that colour, move and erase are shown (ring/inert.h); all else, and what has not been
 * finished when somebody else goes on, is hidden: clients and the screen get NULs in its place, as for queries.
 *
 * What is hidden is remembered with a bit for each byte of the ring, which costs memory only while the ring has such
 * bytes.
 */
#pragma once

#include "ring/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piped {
	uint8_t *bits;    /* NULL: nothing is hidden */
	size_t size;      /* bytes of the ring */
	uint64_t end;     /* behind the newest hidden byte */
	uint64_t failed;  /* bytes before have lost their bits, for memory was short: hide all */
	struct scan scan; /* of what is being hidden */
};

/* Prepare for a ring of so many bytes, a power of two. */
void piped_init(struct piped *p, size_t size);
void piped_finish(struct piped *p);

/* The bytes that follow are another's. */
void piped_begin(struct piped *p);

/*
 * Judge length bytes of a pipe that begin at offset. Returns how many have been: the others are the beginning of
 * something that may be shown, and are to come again with what follows. last: nothing does.
 */
size_t piped_feed(struct piped *p, uint64_t offset, const uint8_t *bytes, size_t length, bool last);

/* These bytes are new in the ring: nothing is known of them. */
void piped_clear(struct piped *p, uint64_t offset, size_t length);

/* Bytes before offset are gone. */
void piped_forget(struct piped *p, uint64_t offset);

/* Put NULs in place of what is hidden of length bytes that begin at offset. */
void piped_apply(const struct piped *p, uint64_t offset, uint8_t *bytes, size_t length);
