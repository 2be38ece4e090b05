/*
 * See excerpt.h. The buffer is linear while everything fits, then a head with a ring behind it, and
 * sorted by excerpt_parts(). Adding cannot fail: without memory or budget it keeps less.
 */
#include "shell/output/excerpt.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN ((size_t)4096)

static size_t head_size(const struct excerpt *e)
{
	return e->limit / 2;
}

void excerpt_init(struct excerpt *e, size_t limit)
{
	*e = (struct excerpt){.limit = limit};
}

void excerpt_finish(struct excerpt *e)
{
	free(e->bytes);
	*e = (struct excerpt){0};
}

/* Grow the buffer, or set the limit to its capacity. */
static void grow(struct excerpt *e, size_t *budget)
{
	size_t capacity = e->capacity ? e->capacity * 2 : CAPACITY_MIN;
	if (capacity > e->limit)
		capacity = e->limit;
	size_t more = capacity - e->capacity;
	uint8_t *bytes = more <= *budget ? realloc(e->bytes, capacity) : NULL;
	if (!bytes) {
		e->limit = e->capacity;
		return;
	}
	*budget -= more;
	e->bytes = bytes;
	e->capacity = capacity;
}

/* Write bytes to the ring behind the head, over the oldest ones. */
static void overwrite(struct excerpt *e, const uint8_t *bytes, size_t length)
{
	size_t head = head_size(e), ring = e->limit - head;
	if (length > ring) {
		e->total += length - ring;
		bytes += length - ring;
		length = ring;
	}
	while (length > 0) {
		size_t at = (size_t)((e->total - head) % ring);
		size_t n = length < ring - at ? length : ring - at;
		memcpy(e->bytes + head + at, bytes, n);
		e->total += n;
		bytes += n;
		length -= n;
	}
}

void excerpt_add(struct excerpt *e, const void *bytes, size_t length, size_t *budget)
{
	const uint8_t *src = bytes;
	while (length > 0 && e->total < e->limit) {
		if (e->total == e->capacity)
			grow(e, budget);
		size_t space = e->total < e->capacity ? e->capacity - (size_t)e->total : 0;
		size_t n = length < space ? length : space;
		if (n == 0)
			break;
		memcpy(e->bytes + e->total, src, n);
		e->total += n;
		src += n;
		length -= n;
	}
	if (e->limit > 0 && length > 0)
		overwrite(e, src, length);
	else
		e->total += length;
}

static void reverse(uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length / 2; i++) {
		uint8_t other = bytes[length - 1 - i];
		bytes[length - 1 - i] = bytes[i];
		bytes[i] = other;
	}
}

struct excerpt_parts excerpt_parts(struct excerpt *e)
{
	struct excerpt_parts p = {.head = e->bytes, .total = e->total};
	if (e->total <= e->limit) {
		p.head_length = (size_t)e->total;
		return p;
	}
	p.omitted = e->total - e->limit;
	if (e->limit == 0)
		return p;
	size_t head = head_size(e), ring = e->limit - head;
	size_t oldest = (size_t)((e->total - head) % ring);
	p.head_length = head;
	p.tail = e->bytes + head;
	p.tail_length = ring;
	reverse(e->bytes + head, oldest);
	reverse(e->bytes + head + oldest, ring - oldest);
	reverse(e->bytes + head, ring);
	return p;
}
