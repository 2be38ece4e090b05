/*
 * Bytes that are not consumed cannot be overwritten (the overrun rule), so scan reads them in place.
 * Everything older may vanish while it is looked at, which stream_holds() tells afterwards.
 */
#include "ring/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t cut_spacing(const struct history *h)
{
	return h->ring->bytes.size / HISTORY_CUTS;
}

static void add_size(struct history *h, uint64_t offset, unsigned rows, unsigned cols)
{
	h->sizes[h->sizes_count++ % HISTORY_RESIZES] = (struct history_size){
		.offset = offset, .rows = rows, .cols = cols};
}

static void add_cut(struct history *h, uint64_t offset)
{
	size_t size = h->ring->bytes.size;
	if (offset < h->cut_floor)
		return;
	h->cuts[h->cuts_count++ % HISTORY_CUTS] = offset;
	if (h->control)
		atomic_store_explicit(
			&h->control->ground[offset / (size / CONTROL_GROUNDS) % CONTROL_GROUNDS],
			offset, memory_order_relaxed);
}

/* The oldest place that the previous server knew to be safe. */
static uint64_t known_ground(const struct history *h, uint64_t oldest)
{
	uint64_t best = UINT64_MAX;
	for (unsigned i = 0; h->control && i < CONTROL_GROUNDS; i++) {
		uint64_t ground = atomic_load_explicit(&h->control->ground[i], memory_order_relaxed);
		if (ground >= oldest && ground > 0 && ground < best)
			best = ground;
	}
	return best == UINT64_MAX ? oldest : best;
}

static void start_at(struct history *h, uint64_t offset)
{
	scan_init(&h->scan, offset);
	queries_finish(&h->queries);
	h->cuts_count = 0;
	h->cut_floor = offset == 0 ? 0 : known_ground(h, offset);
	if (h->cut_floor == offset)
		add_cut(h, offset);
}

/*
 * From the log's beginning, if it is all there. Otherwise from where the previous server was, for only
 * there a record is known to begin, and with the present size, for how it came to be is forgotten.
 */
static void start_events(struct history *h)
{
	const struct ring_header *header = h->ring->header;
	uint32_t geometry = (uint32_t)header->rows << 16 | header->cols;
	if (stream_oldest(&h->ring->events) > 0) {
		geometry = atomic_load(&header->geometry);
		h->events_offset = h->control ? atomic_load(&h->control->events_tail)
					      : stream_head(&h->ring->events);
	}
	add_size(h, 0, geometry >> 16, geometry & 0xffff);
}

int history_init(struct history *h, const struct ring *ring, struct control *control)
{
	*h = (struct history){.ring = ring, .control = control};
	h->sizes = malloc(HISTORY_RESIZES * sizeof *h->sizes);
	if (!h->sizes)
		return -ENOMEM;
	queries_init(&h->queries);
	start_events(h);
	start_at(h, stream_oldest(&ring->bytes));
	return 0;
}

void history_finish(struct history *h)
{
	queries_finish(&h->queries);
	free(h->sizes);
	h->sizes = NULL;
}

static void on_query(void *user, const struct scan_query *query)
{
	struct history *h = user;
	queries_add(&h->queries, query);
}

static void consume_event(struct history *h, const struct event *e)
{
	struct event_resize resize;
	struct event_shell shell;
	if (e->header.type == EVENT_RESIZE && e->header.length >= sizeof resize) {
		memcpy(&resize, e->payload, sizeof resize);
		add_size(h, e->header.offset, resize.rows, resize.cols);
	} else if (e->header.type == EVENT_SHELL && e->header.length >= sizeof shell) {
		memcpy(&shell, e->payload, sizeof shell);
		h->shells_ended++;
		h->shell_status = shell.status;
	}
}

static void consume_events(struct history *h)
{
	struct event e;
	int rc;
	while ((rc = event_read(&h->ring->events, &h->events_offset, &e)) != 0) {
		if (rc > 0)
			consume_event(h, &e);
		else
			h->events_lost++;
	}
}

/* Feed a slice to scan. Returns false when the ring took it away meanwhile (only while catching up). */
static bool consume_slice(struct history *h, size_t length)
{
	const struct stream *bytes = &h->ring->bytes;
	uint64_t from = h->scan.offset;
	if (!stream_holds(bytes, from))
		return false;
	scan_feed(&h->scan, stream_at(bytes, from), length, on_query, h);
	if (!stream_holds(bytes, from))
		return false;
	uint64_t last = h->cuts_count ? h->cuts[(h->cuts_count - 1) % HISTORY_CUTS] : 0;
	if (h->cuts_count == 0 || h->scan.ground >= last + cut_spacing(h))
		add_cut(h, h->scan.ground);
	return true;
}

static void find_end(struct history *h, bool ended)
{
	const struct ring_header *header = h->ring->header;
	if (h->ended)
		return;
	if (atomic_load(&header->exited))
		h->end_offset = header->exit_offset;
	else if (ended)
		h->end_offset = stream_head(&h->ring->bytes);
	else
		return;
	h->ended = h->scan.offset >= h->end_offset;
}

bool history_consume(struct history *h, size_t budget, bool ended)
{
	const struct stream *bytes = &h->ring->bytes;
	/* The head first: whatever happened before it is then in the log. */
	uint64_t head = stream_head(bytes);
	consume_events(h);
	while (h->scan.offset < head && budget > 0) {
		uint64_t length = head - h->scan.offset;
		if (length > cut_spacing(h))
			length = cut_spacing(h);
		if (length > budget)
			length = budget;
		if (!consume_slice(h, (size_t)length)) {
			start_at(h, stream_oldest(bytes));
			continue;
		}
		budget -= (size_t)length;
	}
	queries_trim(&h->queries, stream_oldest(bytes));
	find_end(h, ended);
	return h->scan.offset < stream_head(bytes) ||
		h->events_offset < stream_head(&h->ring->events);
}

void history_catch_up(struct history *h)
{
	h->mute_before = stream_head(&h->ring->bytes);
	while (h->scan.offset < h->mute_before)
		history_consume(h, h->ring->bytes.size, false);
}

uint64_t history_oldest(const struct history *h)
{
	uint64_t oldest = stream_oldest(&h->ring->bytes);
	return oldest > h->queries.floor ? oldest : h->queries.floor;
}

uint64_t history_limit(const struct history *h)
{
	/* Once nothing can follow, an unfinished sequence is as settled as it will ever be. */
	return h->ended ? h->end_offset : h->scan.settled;
}

uint64_t history_consumed(const struct history *h)
{
	/* A sequence that never ends must not stop the program: then there is no such place. */
	uint64_t unfinished = h->scan.offset - h->scan.ground;
	return unfinished <= h->ring->bytes.size / 4 ? h->scan.ground : h->scan.offset;
}

/* The oldest safe place at or after offset. Returns false when there is none yet. */
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

/* How many sizes hold at or before offset, of those ever added. */
static uint64_t sizes_at(const struct history *h, uint64_t offset)
{
	uint64_t i = h->sizes_count;
	while (i > 1 && i + HISTORY_RESIZES > h->sizes_count &&
		h->sizes[(i - 1) % HISTORY_RESIZES].offset > offset)
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
		c->offset = oldest; /* inside a sequence as long as the ring */
	c->sizes = sizes_at(h, c->offset);
	return resume && offset < c->offset ? c->offset - offset : 0;
}

struct history_size history_size_number(const struct history *h, uint64_t i)
{
	if (h->sizes_count > HISTORY_RESIZES && i < h->sizes_count - HISTORY_RESIZES)
		i = h->sizes_count - HISTORY_RESIZES;
	return h->sizes[i % HISTORY_RESIZES];
}

struct history_size history_size_at(const struct history *h, const struct history_cursor *c)
{
	return history_size_number(h, c->sizes > 0 ? c->sizes - 1 : 0);
}

static struct history_read gap(const struct history *h, struct history_cursor *c)
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

/* Bytes of an unfinished character at the end of length bytes. */
static size_t partial_character(const uint8_t *bytes, size_t length)
{
	for (size_t n = 1; n <= 3 && n <= length; n++) {
		uint8_t c = bytes[length - n];
		if (c >= 0xc0)
			return c < 0xf8 && n < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? n : 0;
		if (c < 0x80)
			break;
	}
	return 0;
}

struct history_read history_read(struct history *h, struct history_cursor *c, void *dst, size_t cap)
{
	const struct stream *bytes = &h->ring->bytes;
	uint64_t limit = history_limit(h);
	if (c->offset < history_oldest(h))
		return gap(h, c);
	if (c->sizes < h->sizes_count) {
		struct history_size next = history_size_number(h, c->sizes);
		/* A size that came in the middle of a query is told before it, so that the query stays whole. */
		uint64_t due = queries_start(&h->queries, next.offset);
		if (due <= c->offset) {
			c->sizes++;
			return (struct history_read){.item = HISTORY_SIZE, .size = next};
		}
		if (due < limit)
			limit = due;
	}
	if (c->offset >= limit) {
		bool end = h->ended && c->offset >= h->end_offset && !c->end_told;
		c->end_told |= end;
		return (struct history_read){.item = end ? HISTORY_END : HISTORY_NOTHING};
	}
	size_t length = limit - c->offset < cap ? (size_t)(limit - c->offset) : cap;
	memcpy(dst, stream_at(bytes, c->offset), length);
	if (!stream_holds(bytes, c->offset))
		return gap(h, c);
	/* The decoder of xterm.js garbles characters that come in two messages, when it is cut behind 80. */
	if (length < limit - c->offset)
		length -= partial_character(dst, length);
	size_t whole = queries_apply(&h->queries, c->offset, dst, length);
	c->offset += whole;
	return (struct history_read){.item = HISTORY_BYTES, .length = whole};
}
