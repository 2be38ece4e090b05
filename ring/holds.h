/*
 * Holds: keep a ring's writer from overwriting bytes that a consumer of complete output has not
 * read yet. Viewers have no hold: they are resynchronised with a snapshot. A hold advances as its
 * consumer reads. While the writer waits for a hold, the hold loses patience; reading restores it.
 * So a consumer that reads loses nothing, and one that does not read, or reads too slowly, stalls
 * the writer for at most HOLD_STALL_MS in all.
 *
 * Pure: the caller passes the time and the writer's position. The consumer owns the memory of its
 * hold.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HOLD_STALL_MS 10000u /* total time that a hold may stall the writer without being read */
#define HOLD_RATE 32u        /* bytes to read per millisecond of waiting */
#define HOLD_CLAIM_MS 30000u /* until the first reader of reserved output must have connected */
/* Interval of holds_tick(). If a call is late, at most two ticks are charged. */
#define HOLD_TICK_MS 250u
#define HOLDS_MAX 64u /* per ring */

/* One consumer's hold on a ring. */
struct hold {
	struct hold *next;
	struct hold *prev;  /* both NULL while not in the list */
	uint64_t offset;    /* bytes from here on are needed */
	uint64_t position;  /* events from here on are needed; UINT64_MAX: none */
	uint64_t patience;  /* bytes, consumed at HOLD_RATE while the writer waits */
	uint64_t expire_ms; /* dropped at this time; 0: never */
	bool held;          /* it is in the ring's list */
};

/* All holds of one ring. All zeros: none. */
struct holds {
	struct hold *first;
	unsigned count;
	uint64_t charged_ms; /* time of the last tick */
};

/* The writer's position, for holds_tick(). */
struct holds_writer {
	uint64_t head, size;          /* of the bytes */
	uint64_t events, events_size; /* of the log of events */
	bool blocked;                 /* it waits for space */
};

/* Hold all bytes from offset and events from position on. Returns false at HOLDS_MAX. */
bool holds_add(struct holds *all, struct hold *h, uint64_t offset, uint64_t position);

/* Remove a hold. One that is not in the list is allowed. */
void holds_remove(struct holds *all, struct hold *h);

/* The consumer has read up to these places. Smaller values are ignored. */
void hold_move(struct hold *h, uint64_t offset, uint64_t position);

/* Replace hold `from` by `to`, which does not expire. */
void holds_replace(struct holds *all, struct hold *from, struct hold *to);

/* Lower *offset and *position to the oldest places held. */
void holds_min(const struct holds *all, uint64_t *offset, uint64_t *position);

/* Charge waiting time and drop holds that are used up or expired. Returns true if any. */
bool holds_tick(struct holds *all, const struct holds_writer *w, uint64_t now_ms);
