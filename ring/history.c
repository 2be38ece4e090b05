/*
 * A writer that follows the overrun rule never overwrites bytes that are not consumed; older bytes
 * may vanish at any time. The writer is not trusted to follow the rule, so all output is copied
 * before it is examined; see stream.h.
 */
#include "ring/history.h"

#include "ring/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLICE ((size_t)16 << 10) /* bytes consumed at once */
/* Most bytes copied before a slice. The scanner holds no more than these unsettled. */
#define LOOK_BACK (SCAN_STRING_MAX + SCAN_SEQUENCE_MAX + HISTORY_SECRET_MAX)
#define SIZES_MIN 16u                  /* HISTORY_RESIZES is this times a power of two */
#define RESTART_COST ((size_t)4 << 10) /* budget spent by a restart */

/* A copy of some of the output. */
struct window {
	uint64_t start, end;
	uint8_t bytes[LOOK_BACK + SLICE];
};

static const uint8_t *window_at(const struct window *w, uint64_t offset)
{
	return w->bytes + (offset - w->start);
}

static size_t cut_spacing(const struct history *h)
{
	return h->ring->bytes.size / HISTORY_CUTS;
}

/* Most sessions have few sizes, so the buffer starts small. Without memory it keeps its size. */
static void grow_sizes(struct history *h)
{
	if (h->sizes_count != h->sizes_capacity || h->sizes_capacity >= HISTORY_RESIZES)
		return;
	struct history_size *sizes = realloc(h->sizes, h->sizes_capacity * 2 * sizeof *sizes);
	if (!sizes)
		return;
	h->sizes = sizes;
	h->sizes_capacity *= 2;
}

static void add_size(struct history *h, uint64_t offset, unsigned rows, unsigned cols)
{
	grow_sizes(h);
	h->sizes[h->sizes_count++ % h->sizes_capacity] = (struct history_size){
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
			&h->control->page->ground[offset / (size / CONTROL_GROUNDS) % CONTROL_GROUNDS],
			offset, memory_order_relaxed);
}

/* The oldest safe cut point that the previous server stored. */
static uint64_t known_ground(const struct history *h, uint64_t oldest)
{
	uint64_t best = UINT64_MAX;
	for (unsigned i = 0; h->control && i < CONTROL_GROUNDS; i++) {
		uint64_t ground = atomic_load_explicit(
			&h->control->page->ground[i], memory_order_relaxed);
		if (ground >= oldest && ground > 0 && ground < best)
			best = ground;
	}
	return best == UINT64_MAX ? oldest : best;
}

static void hide_range(struct history *h, uint64_t from, uint64_t to)
{
	if (from < to)
		queries_add(&h->secrets,
			&(struct scan_query){.start = from, .length = (uint32_t)(to - from)});
}

/* Hide the rest of a secret if the ring begins inside it. Very short rests are harmless. */
static void hide_start(struct history *h)
{
	uint8_t start[HISTORY_SECRET_MAX];
	uint64_t at = h->scan.offset;
	queries_finish(&h->secrets);
	if (!h->secret || at == 0)
		return;
	for (size_t n = h->secret_length - 1; n >= HISTORY_SECRET_MIN / 2; n--) {
		const char *end = h->secret + h->secret_length - n;
		if (stream_copy(&h->ring->bytes, at, start, n) && memcmp(start, end, n) == 0) {
			hide_range(h, at, at + n);
			return;
		}
	}
}

/*
 * Hide the secret in the output settled since `from`. Marks are settled as a whole. Of a secret
 * printed in other output, the beginning may have been served already.
 */
static void hide_secret(struct history *h, const struct window *w, uint64_t from)
{
	uint64_t end = h->scan.settled, begin = from;
	if (!h->secret || end <= from)
		return;
	begin -= begin < h->secret_length ? begin : h->secret_length - 1;
	begin = begin > w->start ? begin : w->start;
	while (end > begin) {
		const uint8_t *p = window_at(w, begin);
		const uint8_t *found = memmem(p, (size_t)(end - begin), h->secret, h->secret_length);
		if (!found)
			return;
		uint64_t start = begin + (uint64_t)(found - p);
		begin = start + h->secret_length;
		hide_range(h, start > from ? start : from, begin);
	}
}

void history_set_secret(struct history *h, const char *secret)
{
	h->secret = secret;
	h->secret_length = strlen(secret);
	assert(h->secret_length >= HISTORY_SECRET_MIN && h->secret_length <= HISTORY_SECRET_MAX);
	hide_start(h);
}

void history_redact(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length)
{
	queries_fill(&h->secrets, offset, bytes, length, HISTORY_REDACTED);
}

static void start_at(struct history *h, uint64_t offset)
{
	scan_init(&h->scan, offset);
	hide_start(h);
	queries_finish(&h->queries);
	queries_finish(&h->cancels);
	piped_reset(&h->piped);
	h->source = EVENT_SOURCE_TERMINAL;
	h->cuts_count = 0;
	h->cut_floor = offset == 0 ? 0 : known_ground(h, offset);
	if (h->cut_floor == offset)
		add_cut(h, offset);
}

/*
 * Start at the log's beginning if it is complete. Otherwise start where the previous server
 * stopped, because only there a record is known to begin, with the present size: earlier sizes are
 * lost.
 */
static void start_events(struct history *h)
{
	const struct stream *log = &h->ring->events;
	unsigned rows = h->ring->rows, cols = h->ring->cols;
	if (stream_oldest(log) > 0) {
		ring_geometry(h->ring, &rows, &cols);
		h->events_offset = h->control ? control_events_tail(h->control, stream_head(log))
					      : stream_head(log);
	}
	add_size(h, 0, rows, cols);
}

/*
 * Load the labels of the bytes in the ring from the events before events_offset. The source before
 * the first remaining label follows from that label, which marks a change.
 */
static void start_labels(struct history *h)
{
	const struct stream *log = &h->ring->events;
	struct event e;
	bool first = true;
	uint64_t tail = h->control ? control_events_tail(h->control, stream_head(log)) : 0;
	uint64_t at = labels_log_start(log, tail);
	labels_init(&h->labels, 0, EVENT_SOURCE_TERMINAL);
	bool all = at == 0;
	for (int rc = 1; rc != 0 && at < h->events_offset;) {
		rc = event_read(log, &at, &e);
		uint32_t source;
		if (rc <= 0 || e.header.type != EVENT_SOURCE || e.header.length < sizeof source)
			continue;
		memcpy(&source, e.payload, sizeof source);
		if (first && !all && source == EVENT_SOURCE_TERMINAL)
			h->labels.before = EVENT_SOURCE_STDOUT;
		first = false;
		labels_add_event(&h->labels, &e);
	}
}

int history_init(struct history *h, const struct ring *ring, const struct control *control)
{
	*h = (struct history){.ring = ring, .control = control};
	h->sizes_capacity = SIZES_MIN;
	h->sizes = malloc(SIZES_MIN * sizeof *h->sizes);
	if (!h->sizes)
		return -ENOMEM;
	queries_init(&h->queries);
	queries_init(&h->cancels);
	queries_init(&h->secrets);
	piped_init(&h->piped, ring->bytes.size);
	start_events(h);
	start_labels(h);
	start_at(h, stream_oldest(&ring->bytes));
	return 0;
}

void history_finish(struct history *h)
{
	queries_finish(&h->queries);
	queries_finish(&h->cancels);
	queries_finish(&h->secrets);
	labels_finish(&h->labels);
	piped_finish(&h->piped);
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
		add_size(h, e->header.offset, ring_clamp_side(resize.rows),
			ring_clamp_side(resize.cols));
	} else if (e->header.type == EVENT_SHELL && e->header.length >= sizeof shell) {
		memcpy(&shell, e->payload, sizeof shell);
		h->shells_ended++;
		h->shell_status = shell.status;
	} else if (e->header.type == EVENT_SOURCE) {
		labels_add_event(&h->labels, e);
	}
}

/* Consume all events that exist now. */
static void consume_events(struct history *h)
{
	const struct stream *log = &h->ring->events;
	struct event e;
	for (size_t left = event_log_max(log); left > 0; left--) {
		int rc = event_read(log, &h->events_offset, &e);
		if (rc == 0)
			return;
		if (rc > 0)
			consume_event(h, &e);
		else
			h->events_lost++;
	}
}

static bool is_pipe(enum event_source source)
{
	return source == EVENT_SOURCE_STDOUT || source == EVENT_SOURCE_STDERR;
}

/* The source changes. An unfinished sequence of the terminal must not swallow piped bytes. */
static void change_source(struct history *h, enum event_source source)
{
	if (is_pipe(source)) {
		piped_reset(&h->piped);
		if (!is_pipe(h->source) && !scan_is_ground(&h->scan))
			queries_add(&h->cancels,
				&(struct scan_query){.start = h->scan.offset,
					.length = 1,
					.string = true,
					.ends = true});
		scan_skip(&h->scan, h->scan.offset, h->scan.offset);
	}
	h->source = source;
}

/*
 * Filter a slice of a pipe's output, together with what the previous slice left over. last: another
 * source follows.
 */
static void consume_piped(struct history *h, const struct window *w, bool last)
{
	uint64_t at = h->scan.settled;
	assert(at >= w->start);
	size_t done = piped_feed(&h->piped, at, window_at(w, at), (size_t)(w->end - at), last);
	scan_skip(&h->scan, w->end, at + done);
}

/*
 * Copy length bytes from scan.offset on, and before them the bytes to scan again. Returns false if
 * the ring lost some of them.
 */
static bool fill_window(struct history *h, struct window *w, size_t length)
{
	uint64_t from = h->scan.offset, start = h->scan.settled,
		 oldest = stream_oldest(&h->ring->bytes);
	w->end = from + length;
	start -= start < h->secret_length ? start : h->secret_length;
	start = start > oldest ? start : oldest;
	if (start > from || (is_pipe(h->source) && start > h->scan.settled))
		return false;
	w->start = from - start > LOOK_BACK ? from - LOOK_BACK : start;
	return stream_copy(&h->ring->bytes, w->start, w->bytes, (size_t)(w->end - w->start));
}

/*
 * Consume at most *length bytes of one source; *length becomes the number consumed. Returns false
 * if the ring overwrote them, which happens only while catching up.
 */
static bool consume_slice(struct history *h, size_t *length)
{
	struct window w;
	uint64_t from = h->scan.offset, settled = h->scan.settled, run_end;
	enum event_source source = labels_find(&h->labels, from, &run_end);
	if (run_end - from < *length)
		*length = (size_t)(run_end - from);
	if (source != h->source)
		change_source(h, source);
	if (!fill_window(h, &w, *length))
		return false;
	piped_clear(&h->piped, from, *length);
	if (is_pipe(source))
		consume_piped(h, &w, w.end == run_end);
	else
		scan_feed(&h->scan, window_at(&w, from), *length, on_query, h);
	hide_secret(h, &w, settled);
	uint64_t last = h->cuts_count ? h->cuts[(h->cuts_count - 1) % HISTORY_CUTS] : 0;
	if (h->cuts_count == 0 || h->scan.ground >= last + cut_spacing(h))
		add_cut(h, h->scan.ground);
	return true;
}

static void find_end(struct history *h, bool ended)
{
	struct ring_exit exit;
	struct window w;
	if (h->ended)
		return;
	if (ring_exited(h->ring, &exit))
		h->end_offset = exit.offset;
	else if (ended)
		h->end_offset = stream_head(&h->ring->bytes);
	else
		return;
	/* Bytes that readers may already have are not withdrawn. */
	if (h->end_offset < h->scan.settled)
		h->end_offset = h->scan.settled;
	h->ended = h->scan.offset >= h->end_offset;
	if (h->ended && is_pipe(h->source) && fill_window(h, &w, 0))
		consume_piped(h, &w, true);
}

bool history_consume(struct history *h, size_t budget, bool ended)
{
	const struct stream *bytes = &h->ring->bytes;
	/* Read the head first: all events before it are then in the log. */
	uint64_t head = stream_head(bytes);
	consume_events(h);
	while (h->scan.offset < head && budget > 0) {
		uint64_t length = head - h->scan.offset;
		size_t most = cut_spacing(h) < SLICE ? cut_spacing(h) : SLICE;
		if (length > most)
			length = most;
		if (length > budget)
			length = budget;
		size_t taken = (size_t)length;
		if (!consume_slice(h, &taken)) {
			start_at(h, stream_oldest(bytes));
			taken = budget < RESTART_COST ? budget : RESTART_COST;
		}
		budget -= taken;
	}
	queries_trim(&h->queries, stream_oldest(bytes));
	queries_trim(&h->cancels, stream_oldest(bytes));
	queries_trim(&h->secrets, stream_oldest(bytes));
	piped_forget(&h->piped, stream_oldest(bytes));
	labels_forget(&h->labels, h->scan.offset);
	find_end(h, ended);
	return h->scan.offset < stream_head(bytes) ||
		h->events_offset < stream_head(&h->ring->events);
}

void history_catch_up(struct history *h)
{
	uint64_t before;
	h->mute_before = stream_head(&h->ring->bytes);
	h->answered = h->control ? control_answered(h->control, h->mute_before) : h->mute_before;
	do {
		before = h->scan.offset;
		history_consume(h, h->ring->bytes.size, false);
	} while (h->scan.offset > before && h->scan.offset < h->mute_before);
}

uint64_t history_oldest(const struct history *h)
{
	uint64_t oldest = stream_oldest(&h->ring->bytes);
	oldest = oldest > h->queries.floor ? oldest : h->queries.floor;
	return oldest > h->secrets.floor ? oldest : h->secrets.floor;
}

uint64_t history_screen_limit(const struct history *h)
{
	return is_pipe(h->source) ? h->scan.settled : h->scan.offset;
}

bool history_needs_blanking(const struct history *h)
{
	return h->piped.bits || h->piped.failed > 0 || h->cancels.count > 0;
}

void history_blank(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length)
{
	piped_apply(&h->piped, offset, bytes, length);
	queries_apply(&h->cancels, offset, bytes, length);
}

uint64_t history_limit(const struct history *h)
{
	/* After the last byte, an unfinished sequence counts as settled. */
	return h->ended ? h->end_offset : h->scan.settled;
}

uint64_t history_consumed(const struct history *h)
{
	/* A sequence that never ends must not block the program: release its beginning. */
	uint64_t unfinished = h->scan.offset - h->scan.ground;
	return unfinished <= h->ring->bytes.size / 4 ? h->scan.ground : h->scan.offset;
}

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

struct history_size history_size_number(const struct history *h, uint64_t i)
{
	assert(h->sizes_capacity > 0);
	if (h->sizes_count > h->sizes_capacity && i < h->sizes_count - h->sizes_capacity)
		i = h->sizes_count - h->sizes_capacity;
	return h->sizes[i % h->sizes_capacity];
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
		return gap(h, c);
	if (c->sizes < h->sizes_count) {
		struct history_size next = history_size_number(h, c->sizes);
		/* Report a resize inside a query before it, so that the query stays whole. */
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
	if (!stream_copy(bytes, c->offset, dst, length))
		return gap(h, c);
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
