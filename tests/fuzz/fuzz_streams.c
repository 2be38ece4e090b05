/*
 * A command's streams, split by source. Input: the ring's size and the sources to read, then steps: the source, the
 * length, and the bytes, folded. What is read, in pieces or from the ring, must be what was written, as far as the ring
 * still has it.
 */
#include "shell/output/streams.h"
#include "tests/fuzz/pieces.h"

#define WRITTEN_MAX ((size_t)32 << 10)
#define WRITE_MAX ((size_t)2 << 10) /* one read() of the holder from a pipe */
#define STEPS_MAX 200u

/* Bytes and their sources, in order. */
struct text {
	uint8_t bytes[WRITTEN_MAX], sources[WRITTEN_MAX];
	size_t length;
};

struct model {
	struct stream_shared shared;
	struct stream ring;
	struct labels labels;
	enum event_source speaking;
	struct streams streams;
	struct random random;
	struct text written, got;
};

static struct model m;

static void append(struct text *t, enum event_source source, const uint8_t *bytes, size_t length)
{
	FUZZ_CHECK(length > 0 && length <= WRITTEN_MAX - t->length);
	memcpy(t->bytes + t->length, bytes, length);
	memset(t->sources + t->length, (int)source, length);
	t->length += length;
}

static void on_output(void *user, enum event_source source, const uint8_t *data, size_t length)
{
	append(user, source, data, length);
}

/* Holder */

/* Publish bytes. The second half of the storage maps the same memory as the first. */
static void publish(const uint8_t *bytes, size_t length)
{
	uint64_t head = stream_head(&m.ring);
	stream_reserve(&m.ring, length);
	for (size_t i = 0; i < length; i++) {
		size_t at = (size_t)(head + i) & (m.ring.size - 1);
		m.ring.data[at] = m.ring.data[at + m.ring.size] = bytes[i];
	}
	stream_commit(&m.ring, length);
}

static void put(enum event_source source, const uint8_t *text, size_t length)
{
	uint8_t bytes[2 * WRITE_MAX];
	size_t size = 0;
	if (length == 0 || length > WRITTEN_MAX - m.written.length)
		return;
	append(&m.written, source, text, length);
	if (source != m.speaking) {
		labels_add(&m.labels, stream_head(&m.ring), source);
		streams_label(&m.streams, source, on_output, &m.got);
	}
	m.speaking = source;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n' && source != EVENT_SOURCE_TERMINAL)
			bytes[size++] = '\r';
		bytes[size++] = text[i];
	}
	publish(bytes, size);
	for (size_t at = 0, n; at < size; at += n) {
		n = pieces_next(&m.random, 1 + (size_t)random_below(&m.random, size), size - at);
		streams_feed(&m.streams, bytes + at, n, on_output, &m.got);
	}
}

static void run_step(struct fuzz_input *in)
{
	uint8_t text[WRITE_MAX];
	uint8_t step = fuzz_byte(in);
	size_t size = step >> 2;
	struct fuzz_input part = {in->at, size < in->left ? size : in->left};
	in->at += part.left;
	in->left -= part.left;
	put((enum event_source)(step & 3), text, fuzz_unfold(&part, text, sizeof text));
}

/* Readers */

/* Keep only the bytes of these sources. */
static void filter(struct text *t, unsigned sources)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->length; i++) {
		if (!(sources & 1u << t->sources[i]))
			continue;
		t->bytes[kept] = t->bytes[i];
		t->sources[kept++] = t->sources[i];
	}
	t->length = kept;
}

static void expect_end_of(const struct text *all, const struct text *part)
{
	size_t skipped = all->length - part->length;
	FUZZ_CHECK(part->length <= all->length);
	FUZZ_CHECK(memcmp(all->bytes + skipped, part->bytes, part->length) == 0);
	FUZZ_CHECK(memcmp(all->sources + skipped, part->sources, part->length) == 0);
}

static void read_all(unsigned sources, size_t most)
{
	struct streams_range range = {.bytes = &m.ring,
		.labels = &m.labels,
		.end = stream_head(&m.ring),
		.sources = sources};
	struct streams_piece piece;
	uint64_t cursor = 0, lost = 0, oldest = stream_oldest(&m.ring);
	m.got.length = 0;
	for (;;) {
		size_t cap = 1 + (size_t)random_below(&m.random, most);
		uint8_t *buffer = fuzz_alloc(cap);
		uint64_t before = cursor;
		bool some = streams_read(&range, &cursor, buffer, cap, &piece);
		lost += piece.lost;
		if (some) {
			FUZZ_CHECK(piece.length > 0 && piece.length <= cap && cursor > before);
			FUZZ_CHECK(sources & 1u << piece.source);
			append(&m.got, piece.source, buffer, piece.length);
		}
		free(buffer);
		if (!some)
			break;
	}
	FUZZ_CHECK(cursor == range.end && lost == oldest);
	expect_end_of(&m.written, &m.got);
	FUZZ_CHECK(oldest > 0 || m.got.length == m.written.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t first = fuzz_byte(&in);
	unsigned sources = first >> 3 & 15;
	m.shared = (struct stream_shared){.size = (size_t)4096 << (first & 7) % 5};
	m.ring = (struct stream){.shared = &m.shared, .size = m.shared.size};
	m.ring.data = fuzz_alloc(2 * m.ring.size);
	m.random.state = UINT64_C(0x9e3779b97f4a7c15) + first;
	m.speaking = EVENT_SOURCE_TERMINAL;
	m.written.length = m.got.length = 0;
	labels_init(&m.labels, 0, m.speaking);
	streams_init(&m.streams, m.speaking);
	for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
		run_step(&in);
	streams_label(&m.streams, m.speaking, on_output, &m.got);
	FUZZ_CHECK(m.got.length == m.written.length);
	expect_end_of(&m.written, &m.got);
	read_all(STREAMS_ALL, 1);
	read_all(STREAMS_ALL, WRITTEN_MAX);
	filter(&m.written, sources);
	read_all(sources, 64);
	labels_finish(&m.labels);
	free(m.ring.data);
	return 0;
}
