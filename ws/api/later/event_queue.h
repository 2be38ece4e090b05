/*
 * The events that a step of a stream has given, until the transport asks for them. A queue of NULL is an empty one. It
 * holds what one step gives and no more: who streams goes on once it is empty.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queued_event {
	struct queued_event *prev, *next;
	json_t *event; /* owned */
	size_t bytes;
};

struct event_queue {
	struct queued_event *list;
};

/*
 * Add an event, which is taken; NULL is none. bytes: of output that are lost with it. Returns false when memory is
 * short: then it is not there.
 */
bool event_queue_put(struct event_queue *q, json_t *event, size_t bytes);

/* The event that was added last, borrowed; NULL when the queue is empty. */
json_t *event_queue_last(const struct event_queue *q);

/*
 * The text of the first event that there is memory for, owned by the caller; NULL when there is none. *lost_bytes grows
 * by those of the events before it.
 */
char *event_queue_take(struct event_queue *q, uint64_t *lost_bytes);

void event_queue_clear(struct event_queue *q);
