/*
 * Interned byte strings: each is stored once and has a small number, which stays until a sweep finds that
 * nobody has marked it. For the styles, the combined characters and the links of a screen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_item;
struct intern_slot;

struct intern {
	struct intern_slot *slots;  /* hashed, with open addressing; NULL while there is nothing */
	uint32_t slot_count;        /* a power of two */
	struct intern_item **items; /* by number; NULL where free; item 0 is never used */
	uint64_t *uses;    /* by number: what the last sweep or intern_use() knows, see there */
	uint32_t capacity; /* of items */
	uint32_t count;    /* in use */
	uint32_t next;     /* where to look for a free number */
	uint32_t max;      /* never more than these */
	size_t bytes, max_bytes;         /* the same of the memory that they take */
	size_t sweep_min;                /* fewer are never worth one */
	size_t sweep_at, sweep_at_bytes; /* so much is worth a sweep, what was refused included */
	size_t refused, refused_bytes;   /* since the last sweep, for there was too much */
};

/* max: how many there may be; max_bytes: what they may take. */
void intern_init(struct intern *t, uint32_t max, size_t max_bytes);
void intern_finish(struct intern *t);

/* The number of these bytes, from 1 on; 0 when there is too much, or memory is short. */
uint32_t intern_put(struct intern *t, const void *bytes, size_t length);

/* What number stands for; NULL for 0. Borrowed until the next sweep. */
const void *intern_get(const struct intern *t, uint32_t number, size_t *ret_length);

/* Whether so many have come that unused ones should be swept. */
bool intern_wants_sweep(const struct intern *t);

/* A sweep looks at so many cells: fewer than some share of them are not worth one. */
void intern_set_cells(struct intern *t, size_t cells);

/* Bytes of memory, about. */
size_t intern_memory(const struct intern *t);

/*
 * Lines that use strings have numbers which count up, and go in that order; so it is enough to know the newest line
 * that uses one. 0 as the string is fine.
 */
void intern_use(struct intern *t, uint32_t number, uint64_t line);

/* Mark one as used by anything else. */
void intern_mark(struct intern *t, uint32_t number);

/* `to` is used by whatever uses `from`. */
void intern_use_like(struct intern *t, uint32_t to, const struct intern *of, uint32_t from);

/*
 * Which line is to be the oldest, so that there is room for more: `oldest`, the one that there is, unless too many are
 * used; `end` if that does not help, the number behind the newest.
 */
uint64_t intern_oldest(const struct intern *t, uint64_t oldest, uint64_t end);

/* Give back what is kept for more strings; numbers stay. Without memory some of it stays. */
void intern_shrink(struct intern *t);

/* Forget all that are neither marked nor used by the line `oldest` or a newer one, and all marks. */
void intern_sweep(struct intern *t, uint64_t oldest);
