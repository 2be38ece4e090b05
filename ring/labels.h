/*
 * Who wrote which bytes of a ring: the labels of the event log (EVENT_SOURCE), kept so that the writer of a
 * byte is found at any time. Bounded: when there are too many, the oldest are forgotten, and with them
 * who wrote those bytes.
 */
#pragma once

#include "ring/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX 16384u

struct labels {
	uint64_t *marks; /* offset << 2 | source: from there on; ascending, a circle of `capacity` */
	unsigned start, count, capacity;
	uint64_t floor;           /* who wrote the bytes before is not known */
	enum event_source before; /* who wrote those from the floor to the first mark */
};

/* Prepare, for bytes that begin at floor and are source's until a label says otherwise. No memory yet. */
void labels_init(struct labels *l, uint64_t floor, enum event_source source);
void labels_finish(struct labels *l);

/* The bytes from offset on are source's, whatever has been said of them. Cannot fail: it forgets instead. */
void labels_add(struct labels *l, uint64_t offset, enum event_source source);

/* The same for an event of the log; those of other types are ignored. */
void labels_add_event(struct labels *l, const struct event *event);

/* Bytes before offset are no longer of interest. */
void labels_forget(struct labels *l, uint64_t offset);

/*
 * Who wrote the byte at offset, which must not lie before the floor; *ret_end: where another writer
 * begins, UINT64_MAX when none does yet.
 */
enum event_source labels_find(const struct labels *l, uint64_t offset, uint64_t *ret_end);

/*
 * Fill labels that have just been prepared with count marks, as they are in struct labels, in one line. marks:
 * taken, from malloc. Returns 0, or -EBADMSG (then they are not taken) when they are in no order.
 */
int labels_take(struct labels *l, uint64_t *marks, unsigned count);

/*
 * The offset in an event log of its oldest whole record. tail: where a record is known to begin, for
 * which control.events_tail does. When the beginning has been overwritten, records are recognised by
 * their leading exactly to tail. Returns tail when none are.
 */
uint64_t labels_log_start(const struct stream *log, uint64_t tail);
