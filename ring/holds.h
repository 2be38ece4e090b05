/*
 * Holds: what keeps a ring's writer from going over bytes that a consumer of complete output has not read yet.
 * Viewers have none: they are resynced. A hold moves as its consumer reads. One that does not move, or moves
 * too slowly, is dropped: every moment in which the writer has to wait costs it patience, which it earns by
 * reading. So a reader that reads loses nothing, one that does not stalls the others for HOLD_STALL_MS in all,
 * and one that takes a byte now and then no longer than that.
 *
 * Pure: the caller tells the time and how far the writer is. Memory of a hold is its consumer's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HOLD_STALL_MS 10000u /* that a hold may stop the writer in all without being read */
#define HOLD_RATE 32u        /* bytes that have to be read in a millisecond of waiting */
#define HOLD_CLAIM_MS 30000u /* for the first reader of what was asked to be kept */
#define HOLD_TICK_MS \
	250u          /* how often to look at them; more than two ticks late is nobody's fault */
#define HOLDS_MAX 64u /* of one ring */

struct hold {
	struct hold *next;
	struct hold *last;  /* the one before; both NULL while it holds nothing */
	uint64_t offset;    /* bytes from here on are needed */
	uint64_t position;  /* events from here on are needed; UINT64_MAX: none */
	uint64_t patience;  /* bytes at HOLD_RATE */
	uint64_t expire_ms; /* dropped then, whatever it does; 0: never */
	bool held;          /* it is one of the ring's */
};

/* Those of one ring. Zero is none. */
struct holds {
	struct hold *first;
	unsigned count;
	uint64_t charged_ms; /* when the last tick was */
};

/* Where the writer is, for holds_tick(). */
struct holds_writer {
	uint64_t head, size;          /* of the bytes */
	uint64_t events, events_size; /* of the log of events */
	bool blocked;                 /* it waits for room */
};

/* Begin to hold what lies from these places on. Returns false when there are too many. */
bool holds_add(struct holds *all, struct hold *h, uint64_t offset, uint64_t position);

/* Let go; fine for one that holds nothing. */
void holds_remove(struct holds *all, struct hold *h);

/* Its consumer has come to these places. Never back. */
void hold_move(struct hold *h, uint64_t offset, uint64_t position);

/* `to` takes the place of `from`, which holds nothing afterwards; it does not expire. */
void holds_replace(struct holds *all, struct hold *from, struct hold *to);

/* Lower *offset and *position to what is held. */
void holds_least(const struct holds *all, uint64_t *offset, uint64_t *position);

/* Time has passed: drop those without patience, and those that have expired. Returns whether there were any. */
bool holds_tick(struct holds *all, const struct holds_writer *w, uint64_t now_ms);
