/*
 * Consuming output. A writer that follows the overrun rule never overwrites bytes that are not consumed;
 * older bytes may vanish at any time. The writer is not trusted to follow the rule, so all output is copied
 * before it is examined; see stream.h. Cursors are in history_read.c.
 */
#include "ring/history.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLICE ((size_t)16 << 10) /* bytes consumed at once */
/* Bytes copied with a slice that precede it, at most: what the scanner has not settled, and the start of a secret. */
#define LOOK_BACK (SCAN_STRING_MAX + SCAN_SEQUENCE_MAX + SECRET_MAX)
#define SIZES_MIN 16u                  /* HISTORY_RESIZES is this times a power of two */
#define RESTART_COST ((size_t)4 << 10) /* budget spent by a restart */

/* A copy of a slice and of the bytes before it. */
struct window {
	uint64_t start, end;
	uint8_t bytes[LOOK_BACK + SLICE];
};

static const uint8_t *window_at(const struct window *w, uint64_t offset)
{
	return w->bytes + (offset - w->start);
}

/* a - b, or 0 if that is negative. */
static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Bytes between two cut points that are kept. */
static size_t cut_spacing(const struct history *h)
{
	return h->ring->bytes.size / HISTORY_CUTS;
}

/* Most sessions have few sizes, so the buffer starts small. If memory is short, old sizes are overwritten. */
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

/* The oldest cut point from `oldest` on that an earlier server stored; `oldest` itself if there is none. */
static uint64_t stored_cut(const struct history *h, uint64_t oldest)
{
	uint64_t found = UINT64_MAX;
	for (unsigned i = 0; h->control && i < CONTROL_GROUNDS; i++) {
		uint64_t cut = atomic_load_explicit(
			&h->control->page->ground[i], memory_order_relaxed);
		if (cut >= oldest && cut > 0 && cut < found)
			found = cut;
	}
	return found == UINT64_MAX ? oldest : found;
}

/* Hide the secret in the output settled since `from`. The scanner settles marks as a whole, so none is served in part. */
static void hide_secret(struct history *h, const struct window *w, uint64_t from)
{
	uint64_t start = minus(from + 1, h->secret.length), end = h->scan.settled;
	start = start > w->start ? start : w->start;
	if (end > from && end > start)
		secret_find(&h->secret, start, window_at(w, start), (size_t)(end - start), from);
}

void history_set_secret(struct history *h, const char *secret)
{
	secret_set(&h->secret, secret);
	secret_restart(&h->secret, &h->ring->bytes, h->scan.offset);
}

void history_redact(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length)
{
	secret_redact(&h->secret, offset, bytes, length);
}

/* Read the output from offset on, forgetting what was found in earlier output. */
static void start_at(struct history *h, uint64_t offset)
{
	scan_init(&h->scan, offset);
	secret_restart(&h->secret, &h->ring->bytes, offset);
	queries_finish(&h->queries);
	queries_finish(&h->cancels);
	piped_reset(&h->piped);
	h->source = EVENT_SOURCE_TERMINAL;
	h->cuts_count = 0;
	h->cut_floor = offset == 0 ? 0 : stored_cut(h, offset);
	if (h->cut_floor == offset)
		add_cut(h, offset);
}

/*
 * Start at the log's beginning if it is complete. Otherwise start where the previous server stopped: only there
 * a record is known to begin. Earlier sizes are lost then, so use the present one.
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
 * Load the labels of the bytes in the ring from the events before events_offset. If older labels were lost, the source
 * before the first one that is left follows from it, because each label marks a change.
 */
static void start_labels(struct history *h)
{
	const struct stream *log = &h->ring->events;
	struct event e;
	uint64_t tail = h->control ? control_events_tail(h->control, stream_head(log)) : 0;
	uint64_t at = labels_log_start(log, tail);
	bool source_is_known = at == 0;
	labels_init(&h->labels, 0, EVENT_SOURCE_TERMINAL);
	while (at < h->events_offset) {
		uint32_t source;
		int rc = event_read(log, &at, &e);
		if (rc == 0)
			return;
		if (rc < 0 || e.header.type != EVENT_SOURCE || e.header.length < sizeof source)
			continue;
		memcpy(&source, e.payload, sizeof source);
		if (!source_is_known && source == EVENT_SOURCE_TERMINAL)
			h->labels.before = EVENT_SOURCE_STDOUT;
		source_is_known = true;
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
	secret_finish(&h->secret);
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

/* End an unfinished sequence of the terminal with CAN, so that it does not swallow the piped bytes that follow. */
static void cancel_sequence(struct history *h)
{
	/* queries_apply() replaces the first byte of such a range by CAN. */
	const struct scan_query cancel = {
		.start = h->scan.offset, .length = 1, .string = true, .ends = true};
	if (!is_pipe(h->source) && !scan_is_ground(&h->scan))
		queries_add(&h->cancels, &cancel);
}

static void change_source(struct history *h, enum event_source source)
{
	if (is_pipe(source)) {
		piped_reset(&h->piped);
		cancel_sequence(h);
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
 * Copy length bytes from scan.offset on, and the bytes before them that are not settled or may contain the start of
 * a secret. Returns false if the ring lost some of them.
 */
static bool fill_window(struct history *h, struct window *w, size_t length)
{
	uint64_t from = h->scan.offset, oldest = stream_oldest(&h->ring->bytes);
	uint64_t start = minus(h->scan.settled, h->secret.length);
	w->end = from + length;
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
	uint64_t last_cut = h->cuts_count ? h->cuts[(h->cuts_count - 1) % HISTORY_CUTS] : 0;
	if (h->cuts_count == 0 || h->scan.ground >= last_cut + cut_spacing(h))
		add_cut(h, h->scan.ground);
	return true;
}

/* Check whether all output has been consumed. ended: the holder is gone. */
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
	secret_trim(&h->secret, stream_oldest(bytes));
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
	/* Output whose queries or secrets were forgotten is not served. */
	oldest = oldest > h->queries.floor ? oldest : h->queries.floor;
	return oldest > h->secret.ranges.floor ? oldest : h->secret.ranges.floor;
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
