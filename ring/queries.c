/* A deque of ranges, ordered by offset; looked up by binary search. */
#include "ring/queries.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16u

#define ENQ 0x05
#define CAN 0x18
#define ESC 0x1b

static struct scan_query *at(const struct queries *q, size_t i)
{
	return &q->items[(q->first + i) & (q->capacity - 1)];
}

static uint64_t end_of(const struct scan_query *range)
{
	return range->start + range->length;
}

void queries_init(struct queries *q)
{
	*q = (struct queries){0};
}

void queries_finish(struct queries *q)
{
	free(q->items);
	*q = (struct queries){0};
}

static void forget_oldest(struct queries *q)
{
	q->floor = end_of(at(q, 0));
	q->first++;
	q->count--;
}

static bool grow(struct queries *q)
{
	size_t capacity = q->capacity ? q->capacity * 2 : CAPACITY_MIN;
	if (capacity > QUERIES_MAX)
		return false;
	struct scan_query *items = malloc(capacity * sizeof *items);
	if (!items)
		return false;
	for (size_t i = 0; i < q->count; i++)
		items[i] = *at(q, i);
	free(q->items);
	q->items = items;
	q->capacity = capacity;
	q->first = 0;
	return true;
}

void queries_add(struct queries *q, const struct scan_query *range)
{
	while (q->count > 0 && at(q, q->count - 1)->start >= range->start)
		q->count--;
	if (q->count == q->capacity && !grow(q)) {
		if (q->count == 0) {
			q->floor = range->start + range->length;
			return;
		}
		forget_oldest(q);
	}
	*at(q, q->count++) = *range;
}

void queries_trim(struct queries *q, uint64_t offset)
{
	while (q->count > 0 && end_of(at(q, 0)) <= offset) {
		q->first++;
		q->count--;
	}
}

/* Index of the first range that ends after offset. */
static size_t find(const struct queries *q, uint64_t offset)
{
	size_t low = 0, high = q->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (end_of(at(q, middle)) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t queries_start(const struct queries *q, uint64_t offset)
{
	size_t i = find(q, offset);
	return i < q->count && at(q, i)->start < offset ? at(q, i)->start : offset;
}

uint64_t queries_next_end(const struct queries *q, uint64_t from, uint64_t end)
{
	size_t i = find(q, from);
	return i < q->count && end_of(at(q, i)) < end ? end_of(at(q, i)) : end;
}

static bool is_hidden(const struct scan_query *range, uint8_t c)
{
	/* Terminals execute controls inside a control sequence, but not inside a string. */
	return range->string || c >= 0x20 || c == ESC || c == ENQ;
}

/* Blank the part of range that lies in bytes. */
static void blank(const struct scan_query *range, uint64_t offset, uint8_t *bytes, size_t length)
{
	uint64_t from = range->start > offset ? range->start - offset : 0;
	uint64_t to = end_of(range) - offset < length ? end_of(range) - offset : length;
	/* ESC completes an unfinished string, like ST; a C1 control drops it, like CAN. */
	uint8_t second = 0;
	if (range->ends && range->start >= offset) {
		second = bytes[from] == ESC && range->length > 1 ? '\\' : 0;
		bytes[from++] = second != 0 ? ESC : CAN;
	}
	for (uint64_t i = from; i < to; i++) {
		if (!is_hidden(range, bytes[i]))
			continue;
		bytes[i] = second;
		second = 0;
	}
	/* Only controls are left: replace one of them. */
	if (second != 0 && from < to)
		bytes[from] = second;
}

size_t queries_apply(const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length)
{
	for (size_t i = find(q, offset); i < q->count; i++) {
		const struct scan_query *range = at(q, i);
		if (range->start >= offset + length)
			break;
		if (end_of(range) > offset + length && range->start > offset) {
			length = (size_t)(range->start - offset);
			break;
		}
		blank(range, offset, bytes, length);
	}
	return length;
}

void queries_fill(
	const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length, uint8_t fill)
{
	for (size_t i = find(q, offset); i < q->count && at(q, i)->start < offset + length; i++) {
		uint64_t from = at(q, i)->start > offset ? at(q, i)->start - offset : 0;
		uint64_t to = end_of(at(q, i)) - offset;
		memset(bytes + from, fill, (size_t)((to < length ? to : length) - from));
	}
}
