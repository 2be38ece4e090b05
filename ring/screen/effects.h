/*
 * Replies and events of a screen, queued in order: the screen may be fed on a worker thread, while
 * its callbacks run on the main thread.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stddef.h>
#include <stdint.h>

#define EFFECTS_MAX ((size_t)4 << 20) /* limit in bytes; further records are lost and counted */

/* A queue. All zeros: empty. */
struct effects {
	uint8_t *bytes; /* owned; NULL while empty */
	size_t length, capacity;
	/* End of the queue if its last record is a bell + 1, otherwise 0. */
	size_t bell;
	uint64_t lost; /* records lost */
};

/* Queue a reply. */
void effects_reply(struct effects *s, const char *bytes, size_t length);

/* Queue an event. Consecutive bells become one. */
void effects_event(struct effects *s, const struct screen_event *event);

/* Deliver everything to the callbacks and empty the queue. */
void effects_deliver(struct effects *s, const struct screen_callbacks *callbacks, void *user);

/* Free the queue. Keeps the count of lost records. */
void effects_finish(struct effects *s);
