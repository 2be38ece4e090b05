/* What the files of the scrollback share. */
#pragma once

#include "ring/screen/grid/scrollback.h"

/* An entry, 0 being the oldest. */
static inline struct scrollback_entry *scrollback_slot(const struct scrollback *b, size_t i)
{
	return &b->entries[(b->first + i) & (b->capacity - 1)];
}

/* Number of the first line that is not frozen. */
static inline uint64_t scrollback_warm(const struct scrollback *b)
{
	return b->number + b->frozen_lines;
}

/* How many lines there are up to the end of an entry, from that one on. */
static inline uint32_t scrollback_until(
	const struct scrollback *b, const struct scrollback_entry *entry)
{
	return entry->end - (uint32_t)scrollback_warm(b);
}

/* Append n lines of this size, to be filled in. The oldest give way. NULL: they are dropped. */
struct packed *scrollback_append(struct scrollback *b, size_t size, uint64_t n);

/* Let go of the oldest entry and what it takes; its lines are the caller's to count. */
void scrollback_forget(struct scrollback *b);
