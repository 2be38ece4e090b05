/*
 * A ring, its log and its control page, written by somebody who means harm, and read by all that reads them: history and two
 * of its readers, the screen, the search, an outline, streams, checkpoints. Input: steps, see run_step(). Nothing is known
 * of what they find; but it is in bounds, and they come to an end.
 */
#include "ring/checkpoint.h"
#include "ring/live.h"
#include "ring/search/search.h"
#include "shell/output/outline.h"
#include "shell/output/streams.h"
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#define CONTROL_SIZE ((size_t)36 << 10)
#define STEPS_MAX 64u
#define READS_MAX 4000u

struct model {
	struct ring holder, ring; /* one memory, mapped twice */
	struct control held, control;
	struct history history;
	struct live live;
	struct outline outline;
	struct labels labels;
	struct history_cursor cursors[2];
	uint64_t log_offset, stream_cursor;
};

/* One for all runs: to map it anew each time would take most of the time. */
static struct model m;

static void open_server(void)
{
	const struct live_options live = {.scrollback = 50};
	FUZZ_CHECK(history_init(&m.history, &m.ring, &m.control) == 0);
	history_keep_secret(&m.history, "0123456789abcdef0123456789abcdef");
	history_catch_up(&m.history);
	FUZZ_CHECK(live_init(&m.live, &m.history, &live) == 0);
	labels_init(&m.labels, 0, EVENT_SOURCE_TERMINAL);
	m.log_offset = labels_log_start(&m.ring.events, UINT64_MAX);
	outline_init(&m.outline, "0123456789abcdef0123456789abcdef", stream_oldest(&m.ring.bytes),
		m.log_offset, EVENT_SOURCE_TERMINAL);
	for (int i = 0; i < 2; i++)
		history_seek(&m.history, &m.cursors[i], i == 1, 0);
	m.stream_cursor = 0;
}

static void close_server(void)
{
	live_finish(&m.live);
	history_finish(&m.history);
	labels_finish(&m.labels);
}

/* What a reader has seen is in its own memory: it begins anew. */
static void forget_seen(struct stream *s)
{
	atomic_store(&s->seen->head, 0);
	atomic_store(&s->seen->oldest, 0);
	atomic_store(&s->seen->damaged, false);
}

static void reset(void)
{
	struct ring_options options = {.size = RING_SIZE_MIN, .rows = 24, .cols = 80};
	int fd, control_fd;
	if (!m.holder.header) {
		FUZZ_CHECK(ring_create(&m.holder, &options, &fd) == 0);
		FUZZ_CHECK(ring_open(&m.ring, fd) == 0);
		FUZZ_CHECK(control_create(&m.held, CONTROL_SIZE, &control_fd) == 0);
		FUZZ_CHECK(control_open(&m.control, control_fd) == 0);
		close(fd);
		close(control_fd);
	}
	memset(m.holder.header, 0, sizeof *m.holder.header);
	m.holder.header->geometry = 24u << 16 | 80;
	memset(m.held.page, 0, CONTROL_SIZE);
	memset(m.holder.events.data, 0, m.holder.events.size);
	forget_seen(&m.ring.bytes);
	forget_seen(&m.ring.events);
}

/* The holder */

static uint64_t take_number(struct fuzz_input *in)
{
	uint8_t kind = fuzz_byte(in);
	uint64_t n = (uint64_t)fuzz_byte(in) << 8 | fuzz_byte(in);
	switch (kind & 7) {
	case 0:
		return n;
	case 1:
		return UINT64_MAX - n;
	case 2:
		return RING_SIZE_MIN + n;
	case 3:
		return n << 48;
	case 4:
		return stream_head(&m.holder.bytes) - n;
	default:
		return stream_head(&m.holder.bytes) + n;
	}
}

/* Any word of the header, the control page or a slot. */
static void poke(struct fuzz_input *in)
{
	uint8_t where = fuzz_byte(in), word = fuzz_byte(in);
	uint64_t n = take_number(in);
	char *base = (char *)m.holder.header;
	size_t size = sizeof *m.holder.header;
	if (where % 3 == 1) {
		base = (char *)m.held.page;
		size = sizeof *m.held.page;
	} else if (where % 3 == 2) {
		base = (char *)m.held.page + 4096 + (where / 3 % 2) * ((size_t)16 << 10);
		size = 64;
	}
	memcpy(base + word % (size / 8) * 8, &n, sizeof n);
}

/* Output, or what lies in memory anywhere. */
static void put(struct fuzz_input *in, bool honest)
{
	uint8_t times = fuzz_byte(in);
	size_t length = fuzz_byte(in);
	length = length < in->left ? length : in->left;
	for (unsigned i = 0; i <= times && length > 0; i++) {
		/* The holder's numbers may have been poked: then it has no idea either. */
		uint64_t head = stream_head(&m.holder.bytes) + (honest ? 0 : i * length);
		uint8_t *to = m.holder.bytes.data + (head & (RING_SIZE_MIN - 1));
		memcpy(to, in->at, length);
		if (!honest)
			continue;
		atomic_store(&m.holder.header->bytes.reserved, head + length);
		atomic_store(&m.holder.header->bytes.head, head + length);
	}
	in->at += length;
	in->left -= length;
}

static void put_event(struct fuzz_input *in)
{
	uint8_t payload[64] = {0};
	struct event_header h = {.type = fuzz_byte(in) % 7, .length = fuzz_byte(in) % 65};
	h.offset = take_number(in);
	for (size_t i = 0; i < sizeof payload && i < h.length; i++)
		payload[i] = fuzz_byte(in);
	event_append(&m.holder.events, &h, payload);
}

/* The server */

static void read_history(struct fuzz_input *in)
{
	size_t cap = SCAN_STRING_MAX + 1 + (size_t)fuzz_byte(in) * 16;
	uint8_t *got = fuzz_alloc(cap);
	for (int i = 0; i < 2; i++) {
		for (unsigned n = 0; n < READS_MAX; n++) {
			struct history_read read = history_read(&m.history, &m.cursors[i], got, cap);
			FUZZ_CHECK(read.item != HISTORY_BYTES || read.length <= cap);
			if (read.item == HISTORY_NOTHING)
				break;
		}
		FUZZ_CHECK(history_limit(&m.history) <= stream_head(&m.ring.bytes));
	}
	free(got);
}

static void read_log(void)
{
	struct event e;
	for (unsigned i = 0; i < READS_MAX; i++) {
		int rc = event_read(&m.ring.events, &m.log_offset, &e);
		if (rc == 0)
			break;
		if (rc < 0)
			continue;
		FUZZ_CHECK(e.header.length <= EVENT_PAYLOAD_MAX);
		FUZZ_CHECK(e.header.offset <= STREAM_OFFSET_MAX);
		labels_add_event(&m.labels, &e);
	}
}

static void read_streams(struct fuzz_input *in)
{
	uint8_t bytes[300];
	struct streams_piece piece;
	const struct streams_range range = {.bytes = &m.ring.bytes,
		.labels = &m.labels,
		.end = stream_head(&m.ring.bytes) + fuzz_byte(in) % 3,
		.sources = fuzz_byte(in) % 16};
	size_t cap = 1 + fuzz_byte(in);
	for (unsigned i = 0; i < READS_MAX; i++) {
		uint64_t before = m.stream_cursor;
		if (!streams_read(&range, &m.stream_cursor, bytes, cap, &piece))
			break;
		FUZZ_CHECK(m.stream_cursor > before && piece.length <= cap);
	}
}

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	(void)user;
	FUZZ_CHECK(source <= EVENT_SOURCE_STDERR_PTY && offset <= STREAM_OFFSET_MAX);
	FUZZ_CHECK(length == 0 || bytes);
}

static void on_mark(void *user, const struct mark *mark)
{
	(void)user;
	FUZZ_CHECK(mark->start < mark->end);
}

static void on_record(void *user, const struct record *record, const struct event_header *event,
	uint64_t position)
{
	(void)user, (void)record;
	FUZZ_CHECK(event->offset <= STREAM_OFFSET_MAX && position <= STREAM_OFFSET_MAX);
}

static void on_lost(void *user, uint64_t bytes)
{
	(void)user;
	FUZZ_CHECK(bytes > 0);
}

static void read_outline(void)
{
	static const struct outline_callbacks callbacks = {
		.text = on_text, .mark = on_mark, .record = on_record, .lost = on_lost};
	outline_read(&m.outline, &m.ring, m.history.scan.offset, SIZE_MAX, &callbacks, NULL);
	FUZZ_CHECK(m.outline.offset <= stream_head(&m.ring.bytes));
}

static void search_all(void)
{
	struct pattern *pattern;
	const char *problem;
	if (pattern_create(&pattern, "green", 5, 0, &problem) < 0)
		return;
	struct search search = {.pattern = pattern, .limit = 3, .work = 100000};
	FUZZ_CHECK(search_ring(&search, &m.ring.bytes, UINT64_MAX) == 0);
	search_finish(&search);
	pattern_destroy(pattern);
}

static void check_bounds(void)
{
	const struct stream *streams[] = {&m.ring.bytes, &m.ring.events};
	struct ring_exit exit;
	for (int i = 0; i < 2; i++) {
		uint64_t oldest = stream_oldest(streams[i]), head = stream_head(streams[i]);
		FUZZ_CHECK(oldest <= head && head - oldest <= streams[i]->size);
		FUZZ_CHECK(head <= STREAM_OFFSET_MAX);
	}
	if (ring_exited(&m.ring, &exit))
		FUZZ_CHECK(exit.offset <= stream_head(&m.ring.bytes));
}

/* A byte that says what is done, then its arguments. */
static void run_step(struct fuzz_input *in)
{
	switch (fuzz_byte(in) % 12) {
	case 0:
	case 1:
		poke(in);
		break;
	case 2: /* times, length, bytes */
		put(in, true);
		break;
	case 3:
		put(in, false);
		break;
	case 4:
		put_event(in);
		break;
	case 5:
		history_consume(&m.history, 1 + (size_t)fuzz_byte(in) * 1024, fuzz_byte(in) == 1);
		break;
	case 6:
		read_history(in);
		break;
	case 7:
		if (live_send(&m.live)) {
			live_work(&m.live);
			live_take(&m.live);
		}
		live_follow(&m.live, 1 + (size_t)fuzz_byte(in) * 1024);
		live_tail(&m.live, true);
		break;
	case 8:
		read_log();
		read_streams(in);
		break;
	case 9:
		read_outline();
		break;
	case 10:
		search_all();
		break;
	default:
		close_server();
		open_server();
	}
	check_bounds();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	reset();
	open_server();
	for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
		run_step(&in);
	history_consume(&m.history, SIZE_MAX, true);
	read_history(&in);
	live_follow(&m.live, SIZE_MAX);
	read_outline();
	close_server();
	return 0;
}
