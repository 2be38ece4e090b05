/* Server-sent events, taken apart as they come. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EVENTS_LINE_MAX ((size_t)64 << 20) /* bytes of one event */

/* Zeroed to begin with. */
struct events {
	char *data; /* of the event that is being received; owned */
	size_t length, size;
	size_t line; /* where the line that is being received begins in it */
	bool failed; /* memory was short, or an event too long */
};

/*
 * Take bytes. event: called with each event's data, NUL-terminated. Returns false when memory is short or an
 * event is too long; nothing more is taken then.
 */
bool events_feed(struct events *e, const void *bytes, size_t length,
	void (*event)(void *user, const char *data, size_t length), void *user);

void events_finish(struct events *e);
