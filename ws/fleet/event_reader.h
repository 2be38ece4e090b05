/*
 * Reads server-sent events of Ringside's streams: "data: JSON" and an empty line; lines that begin with a colon keep the
 * stream alive. Incremental. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EVENT_READER_MAX ((size_t)64 << 20) /* bytes of one event */

/* Zero it to begin. */
struct event_reader {
	char *bytes;           /* owned */
	size_t size, from, to; /* bytes[from..to) are to be read */
	size_t looked;         /* up to where no end of an event was found */
};

/* Add bytes of the stream. Returns 0, -E2BIG (an event is too long), or -ENOMEM. */
int event_reader_add(struct event_reader *e, const char *bytes, size_t length);

/* Whether a whole event or comment is there. */
bool event_reader_has_next(struct event_reader *e);

/* Take the next event's data, owned by the caller; NULL: there is none, or memory is short. */
char *event_reader_next(struct event_reader *e);

/* The bytes that are held. */
size_t event_reader_length(const struct event_reader *e);

/* Free them. */
void event_reader_finish(struct event_reader *e);
