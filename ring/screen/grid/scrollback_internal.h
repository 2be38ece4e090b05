/* Shared by the files of the scrollback. */
#pragma once

#include "ring/screen/grid/scrollback.h"

/* An entry; 0 is the oldest. */
static inline struct scrollback_entry *scrollback_slot(const struct scrollback *b, size_t i)
{
	return &b->entries[(b->first + i) & (b->capacity - 1)];
}

/* Number of the first line that is not frozen. */
static inline uint64_t scrollback_first_unfrozen(const struct scrollback *b)
{
	return b->number + b->frozen_lines;
}

/* Number of unfrozen lines up to the end of an entry. */
static inline uint32_t scrollback_until(
	const struct scrollback *b, const struct scrollback_entry *entry)
{
	return entry->end - (uint32_t)scrollback_first_unfrozen(b);
}

/*
 * Append n equal lines of `size` bytes, to be filled in by the caller. Drops the oldest if
 * necessary. NULL: memory is short.
 */
struct packed *scrollback_append(struct scrollback *b, size_t size, uint64_t n);

/* Free the oldest entry. The caller adjusts the count of lines. */
void scrollback_forget(struct scrollback *b);
