/*
 * Labels: the source of each byte of a ring, from the EVENT_SOURCE records of the event log.
 * Bounded: if there are too many changes, the oldest are forgotten.
 */
#pragma once

#include "ring/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX 16384u

/* The sources of a range of output. */
struct labels {
	uint64_t *marks; /* offset << 2 | source, ascending; circular, `capacity` entries */
	unsigned start, count, capacity;
	uint64_t floor;           /* sources of bytes before this offset are unknown */
	enum event_source before; /* source of the bytes from the floor to the first mark */
};

/* Initialise for bytes from floor on, which come from source. Allocates nothing. */
void labels_init(struct labels *l, uint64_t floor, enum event_source source);

/* Free the marks. */
void labels_finish(struct labels *l);

/* All bytes from offset on come from source. Cannot fail: it forgets old marks instead. */
void labels_add(struct labels *l, uint64_t offset, enum event_source source);

/* Add the label of an event. Other types of events are ignored. */
void labels_add_event(struct labels *l, const struct event *event);

/* Forget the marks before offset. */
void labels_forget(struct labels *l, uint64_t offset);

/*
 * Source of the byte at offset, which must not be before the floor. *ret_end: where another source
 * begins, UINT64_MAX if none.
 */
enum event_source labels_find(const struct labels *l, uint64_t offset, uint64_t *ret_end);

/*
 * Set the marks of empty labels. marks: count entries as in struct labels, allocated by malloc(),
 * owned by the labels on success. Returns 0, or -EBADMSG if the marks are not in ascending order.
 */
int labels_set_marks(struct labels *l, uint64_t *marks, unsigned count);

/*
 * Offset of the oldest whole record in an event log. tail: a place where a record is known to
 * begin, such as control_events_tail(). If the log's beginning was overwritten, records are
 * recognised because they lead exactly to tail. Returns tail if there is none.
 */
uint64_t labels_log_start(const struct stream *log, uint64_t tail);
