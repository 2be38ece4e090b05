/*
 * The events of one step of a stream, until the transport pulls them. A stream makes its next step when the queue is
 * empty.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event in the queue. */
struct queued_event {
	struct queued_event *prev, *next;
	json_t *event; /* owned */
	size_t bytes;  /* of output in it */
};

/* A zeroed queue is empty. */
struct event_queue {
	struct queued_event *list;
};

/*
 * Add event, which is taken; NULL: none. bytes: size of its output. Returns false if the event was NULL or memory is
 * short; then it is not added.
 */
bool event_queue_put(struct event_queue *q, json_t *event, size_t bytes);

/* The event that was added last, borrowed; NULL when the queue is empty. */
json_t *event_queue_last(const struct event_queue *q);

/*
 * Remove the first event. Returns its text, owned by the caller; NULL when the queue is empty. An event is skipped if
 * memory is short; its bytes are added to *lost_bytes.
 */
char *event_queue_take(struct event_queue *q, uint64_t *lost_bytes);

/* Remove all events. */
void event_queue_clear(struct event_queue *q);
