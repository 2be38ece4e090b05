#include "shell/output/streams.h"

#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Input or output of each source. */
struct text {
	char bytes[1 << 16];
	size_t length;
};

static void add(struct text *t, const void *bytes, size_t length)
{
	cr_assert_leq(t->length + length, sizeof t->bytes);
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

static void assert_same(const struct text *got, const char *want, size_t length)
{
	cr_assert_eq(got->length, length, "%zu instead of %zu bytes", got->length, length);
	cr_assert_eq(memcmp(got->bytes, want, length), 0);
}

/* A ring as the holder writes it. */
struct written {
	struct ring ring;
	struct labels labels;
	enum event_source speaking;
};

static struct written w;
static struct text texts[4]; /* what was read */

static void make(void)
{
	memory_ring_make(&w.ring, RING_SIZE_MIN);
	labels_init(&w.labels, 0, EVENT_SOURCE_TERMINAL);
	w.speaking = EVENT_SOURCE_TERMINAL;
}

static void unmake(void)
{
	ring_close(&w.ring);
	labels_finish(&w.labels);
}

static void restart(void)
{
	unmake();
	make();
	memset(texts, 0, sizeof texts);
}

TestSuite(streams_read, .init = make, .fini = unmake);

static void put(enum event_source source, const char *text, size_t length)
{
	if (source != w.speaking)
		labels_add(&w.labels, stream_head(&w.ring.bytes), source);
	w.speaking = source;
	if (source == EVENT_SOURCE_TERMINAL) {
		memory_ring_put(&w.ring, text, length);
		return;
	}
	uint8_t *out = stream_reserve(&w.ring.bytes, 2 * length);
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n')
			out[n++] = '\r';
		out[n++] = (uint8_t)text[i];
	}
	stream_commit(&w.ring.bytes, n);
}

/* Read everything from `cursor` on, in pieces of cap. Returns the lost bytes. */
static uint64_t read_all(uint64_t cursor, unsigned sources, size_t cap)
{
	struct streams_piece piece;
	uint8_t buffer[4096];
	uint64_t lost = 0, end = stream_head(&w.ring.bytes);
	const struct streams_range range = {
		.bytes = &w.ring.bytes, .labels = &w.labels, .end = end, .sources = sources};
	while (streams_read(&range, &cursor, buffer, cap, &piece)) {
		cr_assert_gt(piece.length, 0);
		cr_assert_leq(piece.length, cap);
		add(&texts[piece.source], buffer, piece.length);
		lost += piece.lost;
	}
	cr_assert_eq(cursor, end);
	return lost + piece.lost;
}

Test(streams_read, sources_are_separated_exactly)
{
	static const char out[] = "one\r\n\r\r\ntwo\n\n\r", err[] = "\n\r\nx\r", tty[] = "a\r\nb\r";
	for (size_t cap = 1; cap < 20; cap++) {
		restart();
		for (size_t i = 0; i < sizeof out - 1; i++) {
			put(EVENT_SOURCE_STDOUT, out + i, 1);
			if (i < sizeof err - 1)
				put(EVENT_SOURCE_STDERR, err + i, 1);
			if (i < sizeof tty - 1)
				put(EVENT_SOURCE_TERMINAL, tty + i, 1);
		}
		cr_assert_eq(read_all(0, STREAMS_ALL, cap), 0);
		assert_same(&texts[EVENT_SOURCE_STDOUT], out, sizeof out - 1);
		assert_same(&texts[EVENT_SOURCE_STDERR], err, sizeof err - 1);
		assert_same(&texts[EVENT_SOURCE_TERMINAL], tty, sizeof tty - 1);
	}
}

Test(streams_read, only_requested_sources)
{
	put(EVENT_SOURCE_STDOUT, "out\n", 4);
	put(EVENT_SOURCE_STDERR, "err\n", 4);
	put(EVENT_SOURCE_STDERR_PTY, "pty\n", 4);
	read_all(0, STREAMS_STDERR, 100);
	cr_assert_eq(texts[EVENT_SOURCE_STDOUT].length, 0);
	assert_same(&texts[EVENT_SOURCE_STDERR], "err\n", 4);
	assert_same(&texts[EVENT_SOURCE_STDERR_PTY], "pty\n", 4);
}

Test(streams_read, result_is_the_same_at_every_cut)
{
	struct random random = {7};
	for (unsigned round = 0; round < 200; round++) {
		static char want[4][4096];
		size_t lengths[4] = {0};
		restart();
		for (unsigned i = 0; i < 60; i++) {
			char text[40];
			enum event_source source = (enum event_source)random_below(&random, 4);
			size_t length = random_below(&random, sizeof text);
			for (size_t k = 0; k < length; k++)
				text[k] = "ab\r\n\0"[random_below(&random, 5)];
			put(source, text, length);
			memcpy(want[source] + lengths[source], text, length);
			lengths[source] += length;
		}
		cr_assert_eq(read_all(0, STREAMS_ALL, 1 + random_below(&random, 30)), 0);
		for (unsigned i = 0; i < 4; i++)
			assert_same(&texts[i], want[i], lengths[i]);
	}
}

Test(streams_read, overwritten_bytes_are_counted)
{
	size_t size = w.ring.bytes.size;
	for (size_t i = 0; i < size / 2 + 500; i++)
		put(EVENT_SOURCE_STDOUT, "\n", 1);
	uint64_t lost = read_all(0, STREAMS_STDOUT, 4096);
	cr_assert_geq(lost, 1000);
	cr_assert_eq(lost, stream_oldest(&w.ring.bytes));
	cr_assert_eq(texts[EVENT_SOURCE_STDOUT].length, (stream_head(&w.ring.bytes) - lost) / 2);
}

Test(streams_read, bytes_of_unknown_sources_are_lost)
{
	put(EVENT_SOURCE_STDOUT, "abcdef", 6);
	labels_finish(&w.labels);
	labels_init(&w.labels, 4, EVENT_SOURCE_STDOUT);
	cr_assert_eq(read_all(1, STREAMS_STDOUT, 100), 3);
	assert_same(&texts[EVENT_SOURCE_STDOUT], "ef", 2);
	restart();
	put(EVENT_SOURCE_STDOUT, "abcdef", 6);
	labels_finish(&w.labels);
	labels_init(&w.labels, UINT64_MAX, EVENT_SOURCE_TERMINAL);
	cr_assert_eq(read_all(0, STREAMS_ALL, 100), 6);
}

Test(streams_read, cursor_between_cr_and_lf_gives_the_lf)
{
	put(EVENT_SOURCE_STDOUT, "a\nb", 3);
	read_all(2, STREAMS_STDOUT, 100);
	assert_same(&texts[EVENT_SOURCE_STDOUT], "\nb", 2);
}

static void on_output(void *user, enum event_source source, const uint8_t *data, size_t length)
{
	cr_assert_gt(length, 0);
	add((struct text *)user + source, data, length);
}

Test(streams_feed, result_is_the_same_at_every_cut)
{
	static const char ring[] = "a\r\nb\r\r\n\rc\r\r", want[] = "a\nb\r\n\rc\r\r";
	for (size_t cut = 0; cut < sizeof ring - 1; cut++) {
		memset(texts, 0, sizeof texts);
		struct streams s;
		streams_init(&s, EVENT_SOURCE_STDOUT);
		streams_feed(&s, (const uint8_t *)ring, cut, on_output, texts);
		streams_feed(
			&s, (const uint8_t *)ring + cut, sizeof ring - 1 - cut, on_output, texts);
		streams_label(&s, EVENT_SOURCE_TERMINAL, on_output, texts);
		streams_feed(&s, (const uint8_t *)"x\r\ny\r", 5, on_output, texts);
		streams_label(&s, EVENT_SOURCE_STDERR, on_output, texts);
		for (size_t i = 0; i < sizeof ring - 1; i++)
			streams_feed(&s, (const uint8_t *)ring + i, 1, on_output, texts);
		streams_label(&s, EVENT_SOURCE_STDERR, on_output, texts);
		assert_same(&texts[EVENT_SOURCE_STDOUT], want, sizeof want - 1);
		assert_same(&texts[EVENT_SOURCE_TERMINAL], "x\r\ny\r", 5);
		assert_same(&texts[EVENT_SOURCE_STDERR], want, sizeof want - 1);
	}
}
