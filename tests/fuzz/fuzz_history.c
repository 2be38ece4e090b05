/*
 * A session's ring, its history and two readers. Input: steps, see run_step(). What the readers get is compared with a
 * plain copy of all output and with the result of scan for the whole.
 */
#include "ring/control.h"
#include "ring/history.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/scanned.h"

#define OUTPUT_MAX ((size_t)384 << 10)
#define WRITE_MAX ((size_t)8 << 10)
#define STEPS_MAX 120u
#define GROUNDS_MAX 6u /* places that are checked closely, which is slow */

struct reader {
	struct history_cursor cursor;
	bool told_end;
	bool whole;       /* it began between two sequences and has missed nothing since */
	struct scan scan; /* the state of its terminal */
};

struct model {
	struct ring ring;
	struct control_page page;
	struct control control;
	struct history history;
	struct scanned scanned; /* all that history has consumed */
	uint64_t base;          /* where scanned began */
	unsigned grounds;       /* checked closely */
	uint64_t tail;          /* consumed, as far as the writer has seen */
	uint8_t output[OUTPUT_MAX];
	size_t length;
	struct history_size sizes[STEPS_MAX + 1];
	size_t sizes_count;
	struct reader readers[2];
};

/* One for all runs, because mapping it for each run would be slow. */
static struct model m;

static void reset(void)
{
	int fd;
	struct ring_options options = {.size = RING_SIZE_MIN, .rows = 24, .cols = 80};
	if (!m.ring.header)
		FUZZ_CHECK(ring_create(&m.ring, &options, &fd) == 0);
	struct ring_header *header = m.ring.header;
	struct stream_shared *streams[] = {&header->bytes, &header->events};
	for (int i = 0; i < 2; i++) {
		atomic_store(&streams[i]->head, 0);
		atomic_store(&streams[i]->reserved, 0);
	}
	atomic_store(&header->exited, 0);
	header->exit_offset = 0;
	m.page = (struct control_page){.size = 4096};
	m.control = (struct control){&m.page, sizeof m.page};
	FUZZ_CHECK(history_init(&m.history, &m.ring, &m.control) == 0);
	scanned_init(&m.scanned, 0);
	m.base = m.tail = 0;
	m.grounds = 0;
	m.length = 0;
	m.sizes[0] = (struct history_size){.rows = 24, .cols = 80};
	m.sizes_count = 1;
}

/* Server */

static bool has_exited(void)
{
	return atomic_load(&m.ring.header->exited) != 0;
}

static void follow(void)
{
	struct history *h = &m.history;
	uint64_t from = m.scanned.scan.offset, consumed = history_consumed(h);
	FUZZ_CHECK(h->scan.offset >= from && h->scan.offset <= m.length);
	scanned_feed(&m.scanned, m.output + from, (size_t)(h->scan.offset - from));
	FUZZ_CHECK(h->scan.settled == m.scanned.scan.settled);
	FUZZ_CHECK(h->scan.ground == m.scanned.scan.ground);
	FUZZ_CHECK(h->events_lost == 0);
	FUZZ_CHECK(consumed >= m.tail && consumed <= h->scan.offset);
	FUZZ_CHECK(h->scan.offset - consumed <= RING_SIZE_MIN / 4);
	m.tail = consumed;
	atomic_store(&m.page.tail, consumed);
	atomic_store(&m.page.events_tail, h->events_offset);
}

static void consume(size_t budget)
{
	uint64_t before = m.history.scan.offset;
	bool more = history_consume(&m.history, budget, false);
	FUZZ_CHECK(m.history.scan.offset - before <= budget);
	FUZZ_CHECK(more == (m.history.scan.offset < m.length));
	follow();
}

/* Check that offset is between two sequences. After an incomplete character only further bytes show that. */
static void expect_ground(uint64_t offset)
{
	struct scanned s;
	if (m.grounds++ >= GROUNDS_MAX)
		return;
	scanned_init(&s, m.base);
	scan_feed(&s.scan, m.output + m.base, (size_t)(offset - m.base), scanned_on_query, &s);
	while (s.scan.ground != offset && s.scan.offset < offset + 4 && s.scan.offset < m.length)
		scan_feed(&s.scan, m.output + s.scan.offset, 1, scanned_on_query, &s);
	FUZZ_CHECK(s.scan.ground == offset);
	scanned_finish(&s);
}

/* Check the size at a cursor that has just been placed. */
static void expect_size(const struct history_cursor *c)
{
	size_t i = m.sizes_count - 1;
	/* Events are consumed with the bytes, so the history may not have the newest yet. */
	while (i > 0 && (m.sizes[i].offset > c->offset || i >= m.history.sizes_count))
		i--;
	struct history_size size = history_size_at(&m.history, c);
	FUZZ_CHECK(size.rows == m.sizes[i].rows && size.cols == m.sizes[i].cols);
}

static void place(struct reader *r, bool resume, uint64_t offset)
{
	uint64_t oldest = history_oldest(&m.history);
	uint64_t lost = history_seek(&m.history, &r->cursor, resume, offset);
	uint64_t at = r->cursor.offset;
	bool exact = resume && offset >= oldest && offset <= m.length;
	FUZZ_CHECK(at >= oldest && at <= m.length);
	FUZZ_CHECK(!exact || at == offset);
	FUZZ_CHECK(lost == (resume && offset < at ? at - offset : 0));
	/* If a sequence is as long as the ring, the oldest byte is used. */
	if (!exact && at != oldest)
		expect_ground(at);
	expect_size(&r->cursor);
	r->told_end = false;
	r->whole = !exact && at != oldest;
	scan_init(&r->scan, at);
}

/* Restart the server: only the ring and the control page remain. */
static void restart(void)
{
	history_finish(&m.history);
	scanned_finish(&m.scanned);
	FUZZ_CHECK(history_init(&m.history, &m.ring, &m.control) == 0);
	m.base = stream_oldest(&m.ring.bytes);
	scanned_init(&m.scanned, m.base);
	history_catch_up(&m.history);
	FUZZ_CHECK(m.history.mute_before == m.length);
	m.tail = m.tail < m.base ? m.base : 0;
	follow();
	for (int i = 0; i < 2; i++)
		place(&m.readers[i], true, m.readers[i].cursor.offset);
}

/* Holder */

/* The holder never overwrites unconsumed bytes: it waits. */
static void put(const uint8_t *bytes, size_t length)
{
	if (has_exited() || length > OUTPUT_MAX - m.length)
		return;
	if (m.length + length > m.tail + RING_SIZE_MIN)
		consume(RING_SIZE_MIN);
	FUZZ_CHECK(m.length + length <= m.tail + RING_SIZE_MIN);
	memcpy(stream_reserve(&m.ring.bytes, length), bytes, length);
	stream_commit(&m.ring.bytes, length);
	memcpy(m.output + m.length, bytes, length);
	m.length += length;
}

static void print(struct fuzz_input *in)
{
	uint8_t bytes[WRITE_MAX];
	size_t size = fuzz_byte(in);
	struct fuzz_input part = {in->at, size < in->left ? size : in->left};
	in->at += part.left;
	in->left -= part.left;
	put(bytes, fuzz_unfold(&part, bytes, sizeof bytes));
}

static void flood(size_t count)
{
	static const char line[] =
		"\033[32m0123456789 123456789\033[m 123456789 123456789 12345678\r\n";
	uint8_t bytes[4 * (sizeof line - 1)];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)line[i % (sizeof line - 1)];
	for (; count > 0; count--)
		put(bytes, sizeof bytes);
}

static void resize(uint8_t rows, uint8_t cols)
{
	struct event_resize size = {.rows = rows, .cols = cols};
	struct event_header header = {
		.offset = m.length, .type = EVENT_RESIZE, .length = sizeof size};
	event_append(&m.ring.events, &header, &size);
	m.sizes[m.sizes_count++] = (struct history_size){
		m.length, ring_clamp_side(rows), ring_clamp_side(cols)};
}

static void leave(void)
{
	m.ring.header->exit_offset = m.length;
	atomic_store(&m.ring.header->exited, 1);
}

/* Readers */

/* The first range that ends after offset. */
static size_t find_range(uint64_t offset)
{
	size_t low = 0, high = m.scanned.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct scan_query *range = &m.scanned.ranges[middle];
		if (range->start + range->length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Compare a reader's bytes of [from, to): all but the queries must be unchanged. */
static void expect_bytes(const uint8_t *got, uint64_t from, uint64_t to)
{
	uint64_t at = from;
	for (size_t i = find_range(from); i < m.scanned.count; i++) {
		const struct scan_query *range = &m.scanned.ranges[i];
		uint64_t start = range->start > from ? range->start : from;
		uint64_t end = range->start + range->length;
		end = end < to ? end : to;
		if (start >= to)
			break;
		FUZZ_CHECK(memcmp(got + (at - from), m.output + at, (size_t)(start - at)) == 0);
		/* Adjacent muted ranges are blanked one by one. */
		FUZZ_CHECK(range->muted ||
			fuzz_is_blanked(got + (start - from), m.output + start,
				(size_t)(end - start), range->string));
		at = end;
	}
	FUZZ_CHECK(memcmp(got + (at - from), m.output + at, (size_t)(to - at)) == 0);
}

/* Whether offset is inside a character, as far as the lead byte tells. */
static bool is_inside_character(uint64_t offset)
{
	if ((m.output[offset] & 0xc0) != 0x80)
		return false;
	for (uint64_t behind = 1; behind <= 3 && behind <= offset; behind++) {
		uint8_t c = m.output[offset - behind];
		if (c >= 0xc0)
			return c < 0xf8 && behind < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u);
		if (c < 0x80)
			break;
	}
	return false;
}

static void check_bytes(struct reader *r, const uint8_t *got, uint64_t from, size_t length)
{
	const struct history_cursor *c = &r->cursor;
	FUZZ_CHECK(length > 0 && c->offset == from + length);
	FUZZ_CHECK(c->offset <= history_limit(&m.history));
	expect_bytes(got, from, c->offset);
	if (r->whole)
		scan_feed(&r->scan, got, length, scanned_refuse_query, NULL);
	uint64_t limit = history_limit(&m.history), due = limit;
	/* A size is reported where it became valid, or before the query that it interrupted. */
	if (c->sizes < m.history.sizes_count)
		due = queries_start(&m.history.queries, m.sizes[c->sizes].offset);
	FUZZ_CHECK(c->offset <= due);
	/* If the buffer is too small, bytes are cut between two characters. */
	FUZZ_CHECK(c->offset == due || c->offset == limit || !is_inside_character(c->offset));
}

static enum history_item read_item(struct reader *r, size_t cap)
{
	struct history *h = &m.history;
	struct history_cursor *c = &r->cursor;
	uint64_t from = c->offset, sizes = c->sizes, oldest = history_oldest(h);
	uint8_t *got = fuzz_alloc(cap);
	struct history_read read = history_read(h, c, got, cap);
	switch (read.item) {
	case HISTORY_NOTHING:
		FUZZ_CHECK(c->offset == from && (from >= history_limit(h) || from < oldest));
		break;
	case HISTORY_BYTES:
		FUZZ_CHECK(read.length <= cap && from >= oldest);
		check_bytes(r, got, from, read.length);
		break;
	case HISTORY_SIZE:
		FUZZ_CHECK(c->offset == from && c->sizes == sizes + 1 && sizes < m.sizes_count);
		FUZZ_CHECK(read.size.rows == m.sizes[sizes].rows);
		FUZZ_CHECK(read.size.cols == m.sizes[sizes].cols);
		FUZZ_CHECK(read.size.offset == m.sizes[sizes].offset);
		break;
	case HISTORY_GAP:
		FUZZ_CHECK(from < oldest && c->offset >= oldest);
		FUZZ_CHECK(read.skipped == c->offset - from);
		expect_ground(c->offset);
		expect_size(c);
		r->whole = true;
		scan_init(&r->scan, c->offset);
		break;
	case HISTORY_END:
		FUZZ_CHECK(has_exited() && c->offset == m.length && !r->told_end);
		r->told_end = true;
		break;
	}
	free(got);
	return read.item;
}

/* Read to the end. A reader that waits for a sequence as long as the ring gets nothing either. */
static void drain(struct reader *r)
{
	for (size_t i = 0; i < OUTPUT_MAX; i++) {
		if (read_item(r, SCAN_STRING_MAX + 1) != HISTORY_NOTHING)
			continue;
		FUZZ_CHECK(r->told_end || r->cursor.offset < history_oldest(&m.history));
		return;
	}
	FUZZ_CHECK(!"reading does not end");
}

/* Each step is a byte, then its arguments. */
static void run_step(struct fuzz_input *in)
{
	uint8_t step = fuzz_byte(in);
	struct reader *r = &m.readers[step & 1];
	switch (step >> 1 & 7) {
	case 0: /* length, folded output */
		print(in);
		break;
	case 1: /* 4 lines each */
		flood(fuzz_byte(in));
		break;
	case 2: /* rows, cols */
		resize(fuzz_byte(in), fuzz_byte(in));
		break;
	case 3: /* 64 bytes each */
		consume(1 + (size_t)fuzz_byte(in) * 64);
		break;
	case 4:
	case 5: /* buffer size, 256 bytes each */
		read_item(r, SCAN_STRING_MAX + 1 + (size_t)fuzz_byte(in) * 256);
		break;
	case 6: /* distance to the newest byte, two bytes; 0: the oldest offset */
	{
		uint64_t back = (uint64_t)fuzz_byte(in) << 8 | fuzz_byte(in);
		place(r, back > 0, back - 1 <= m.length ? m.length - (back - 1) : 0);
		break;
	}
	default: /* 0: the shell exits; 1: a restart; else consume a few bytes */
		step = fuzz_byte(in);
		if (step == 0)
			leave();
		else if (step == 1)
			restart();
		else
			consume(step);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	reset();
	for (int i = 0; i < 2; i++) {
		m.readers[i] = (struct reader){0};
		place(&m.readers[i], false, 0);
	}
	for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
		run_step(&in);
	leave();
	consume(OUTPUT_MAX);
	for (int i = 0; i < 2; i++)
		drain(&m.readers[i]);
	history_finish(&m.history);
	scanned_finish(&m.scanned);
	return 0;
}
