/*
 * Interned byte strings: each is stored once and identified by a small number, until a sweep finds
 * it unused. Used for a screen's styles, clusters and links.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string. */
struct intern_item;

/* An entry of the hash table. */
struct intern_slot;

/* A table of strings. */
struct intern {
	struct intern_slot *slots;       /* hash table with open addressing; NULL while empty */
	uint32_t slot_count;             /* a power of two */
	struct intern_item **items;      /* by number; NULL where free; item 0 is never used */
	uint64_t *uses;                  /* by number: mark and newest line, see intern_use() */
	uint32_t capacity;               /* of items */
	uint32_t count;                  /* in use */
	uint32_t next;                   /* where to look for a free number */
	uint32_t max;                    /* limit of count */
	size_t bytes, max_bytes;         /* the same in bytes of memory */
	size_t sweep_min;                /* no sweep below this count */
	size_t sweep_at, sweep_at_bytes; /* sweep at this size, refused strings included */
	size_t refused, refused_bytes;   /* refused since the last sweep because of the limits */
};

/* Initialise with limits on the number of strings and on their memory. */
void intern_init(struct intern *t, uint32_t max, size_t max_bytes);

/* Free all strings. */
void intern_finish(struct intern *t);

/* Intern bytes. Returns their number, from 1 on; 0 if a limit is reached or memory is short. */
uint32_t intern_put(struct intern *t, const void *bytes, size_t length);

/* The bytes of a number, borrowed until the next sweep; NULL for 0. ret_length may be NULL. */
const void *intern_get(const struct intern *t, uint32_t number, size_t *ret_length);

/* Whether a sweep is due. */
bool intern_needs_sweep(const struct intern *t);

/* Set the number of cells that a sweep examines; it determines how often sweeps are worth it. */
void intern_set_cells(struct intern *t, size_t cells);

/* Approximate memory in bytes. */
size_t intern_memory(const struct intern *t);

/*
 * Record that a line uses a string. Lines are numbered and dropped in ascending order, so the
 * newest user is enough. number may be 0.
 */
void intern_use(struct intern *t, uint32_t number, uint64_t line);

/* Mark a string as used outside of numbered lines. */
void intern_mark(struct intern *t, uint32_t number);

/* String `to` is used wherever string `from` of table `of` is. */
void intern_use_like(struct intern *t, uint32_t to, const struct intern *of, uint32_t from);

/*
 * The line that should be the oldest to make space: `oldest`, the present one, unless too many
 * strings are used; at most `end`, the number after the newest line.
 */
uint64_t intern_oldest(const struct intern *t, uint64_t oldest, uint64_t end);

/* Free spare capacity; numbers stay. Keeps it if memory is short. */
void intern_shrink(struct intern *t);

/* Free strings that are neither marked nor used by line `oldest` or newer, and clear all marks. */
void intern_sweep(struct intern *t, uint64_t oldest);
