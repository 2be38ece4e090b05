/* Parses server-sent events (WHATWG HTML, section 9.2) piece by piece. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EVENTS_LINE_MAX ((size_t)64 << 20) /* bytes of one event */

/* The state of the parser. Zeroed at first. */
struct events {
	char *data; /* of the unfinished event; owned */
	size_t length, size;
	size_t line; /* where the unfinished line begins in data */
	bool failed; /* out of memory, or an event was too long */
};

/*
 * Parse bytes. event: called with the data of each complete event, NUL-terminated. Returns false if
 * memory is short or an event is too long; further bytes are ignored then.
 */
bool events_feed(struct events *e, const void *bytes, size_t length,
	void (*event)(void *user, const char *data, size_t length), void *user);

/* Free what it owns. */
void events_finish(struct events *e);
