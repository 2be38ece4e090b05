/* Cursors of the readers: what each of them gets next. They share the history, which has no queue for them. */
#include "ring/history.h"

#include "ring/utf8.h"

#include <assert.h>

/* Find the oldest safe cut point at or after offset. Returns false if there is none yet. */
static bool find_cut(const struct history *h, uint64_t offset, uint64_t *ret_cut)
{
	uint64_t i = h->cuts_count > HISTORY_CUTS ? h->cuts_count - HISTORY_CUTS : 0;
	for (; i < h->cuts_count; i++) {
		if (h->cuts[i % HISTORY_CUTS] >= offset) {
			*ret_cut = h->cuts[i % HISTORY_CUTS];
			return true;
		}
	}
	*ret_cut = h->scan.ground;
	return h->scan.ground >= offset;
}

/* Number of sizes, of all ever added, that begin at or before offset. */
static uint64_t sizes_at(const struct history *h, uint64_t offset)
{
	uint64_t i = h->sizes_count;
	while (i > 1 && i + h->sizes_capacity > h->sizes_count &&
		h->sizes[(i - 1) % h->sizes_capacity].offset > offset)
		i--;
	return i;
}

void history_place(const struct history *h, struct history_cursor *c, uint64_t offset)
{
	*c = (struct history_cursor){.offset = offset, .sizes = sizes_at(h, offset)};
}

uint64_t history_seek(
	const struct history *h, struct history_cursor *c, bool resume, uint64_t offset)
{
	uint64_t oldest = history_oldest(h);
	*c = (struct history_cursor){0};
	if (resume && offset >= oldest && offset <= stream_head(&h->ring->bytes))
		c->offset = offset;
	else if (!find_cut(h, oldest, &c->offset))
		c->offset = oldest; /* the ring holds a single sequence */
	c->sizes = sizes_at(h, c->offset);
	return resume && offset < c->offset ? c->offset - offset : 0;
}

struct history_size history_nth_size(const struct history *h, uint64_t i)
{
	assert(h->sizes_capacity > 0);
	if (h->sizes_count > h->sizes_capacity && i < h->sizes_count - h->sizes_capacity)
		i = h->sizes_count - h->sizes_capacity;
	return h->sizes[i % h->sizes_capacity];
}

struct history_size history_size_at(const struct history *h, const struct history_cursor *c)
{
	return history_nth_size(h, c->sizes > 0 ? c->sizes - 1 : 0);
}

/* The bytes at c are gone: move it to the oldest cut point. */
static struct history_read skip_gap(const struct history *h, struct history_cursor *c)
{
	uint64_t before = c->offset;
	if (!find_cut(h, history_oldest(h), &c->offset)) {
		c->offset = before;
		return (struct history_read){.item = HISTORY_NOTHING};
	}
	c->sizes = sizes_at(h, c->offset);
	return (struct history_read){
		.item = HISTORY_GAP, .skipped = c->offset - before, .size = history_size_at(h, c)};
}

/* The number of bytes of an incomplete character at the end of length bytes. */
static size_t partial_character(const uint8_t *bytes, size_t length)
{
	for (size_t n = 1; n <= 3 && n <= length; n++) {
		uint8_t c = bytes[length - n];
		if (!utf8_is_continuation(c))
			return n < utf8_lead_length(c) ? n : 0;
	}
	return 0;
}

struct history_read history_read(struct history *h, struct history_cursor *c, void *dst, size_t cap)
{
	const struct stream *bytes = &h->ring->bytes;
	uint64_t limit = history_limit(h);
	if (c->offset < history_oldest(h))
		return skip_gap(h, c);
	if (c->sizes < h->sizes_count) {
		struct history_size next = history_nth_size(h, c->sizes);
		/* A resize inside a query is reported before the query, so that the query stays whole. */
		uint64_t report_at = queries_start(&h->queries, next.offset);
		if (report_at <= c->offset) {
			c->sizes++;
			return (struct history_read){.item = HISTORY_SIZE, .size = next};
		}
		if (report_at < limit)
			limit = report_at;
	}
	if (c->offset >= limit) {
		bool end = h->ended && c->offset >= h->end_offset && !c->end_reported;
		c->end_reported |= end;
		return (struct history_read){.item = end ? HISTORY_END : HISTORY_NOTHING};
	}
	size_t length = limit - c->offset < cap ? (size_t)(limit - c->offset) : cap;
	if (!stream_copy(bytes, c->offset, dst, length))
		return skip_gap(h, c);
	/* xterm.js garbles a character that is split over two messages after a byte 0x80. */
	if (length < limit - c->offset)
		length -= partial_character(dst, length);
	if (history_needs_blanking(h))
		history_blank(h, c->offset, dst, length);
	size_t whole = queries_apply(&h->queries, c->offset, dst, length);
	history_redact(h, c->offset, dst, whole);
	c->offset += whole;
	return (struct history_read){.item = HISTORY_BYTES, .length = whole};
}
