/*
 * The outline of a ring, read as a holder writes it, in steps, and once more from the beginning. Input: steps, see
 * run_step(). Both must find the same in the same order, and text of the FIFOs must be found as it was written.
 */
#include "shell/output/outline.h"
#include "tests/fuzz/pieces.h"

#define NONCE "n"
#define WRITTEN_MAX ((size_t)160 << 10)
#define EVENTS_MAX (RING_EVENTS_SIZE - (EVENT_PAYLOAD_MAX + 64)) /* the log is never overwritten */
#define WRITE_MAX ((size_t)2 << 10)
#define STEPS_MAX 200u

/* The findings of a reader. */
struct seen {
	struct outline outline;
	uint64_t hash;  /* of all text, marks and records */
	uint64_t exact; /* of text that did not go to the terminal */
	uint64_t lost, records;
};

struct model {
	struct ring ring;
	enum event_source speaking;
	uint64_t exact; /* hash of what was written elsewhere than to the terminal */
	size_t written;
	bool doubtful; /* there were labels that the holder did not set */
	struct seen live;
};

/* One for all runs, because mapping it for each run would be slow. */
static struct model m;

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct seen *s = user;
	const uint8_t *at = bytes;
	FUZZ_CHECK(length > 0 && offset + length <= stream_head(&m.ring.bytes));
	if (source == EVENT_SOURCE_TERMINAL)
		FUZZ_CHECK(offset + length <= s->outline.offset);
	for (size_t i = 0; i < length; i++) {
		uint8_t labelled[] = {(uint8_t)source, at[i]};
		s->hash = hash_bytes(s->hash, labelled, sizeof labelled);
		if (source != EVENT_SOURCE_TERMINAL)
			s->exact = hash_bytes(s->exact, labelled, sizeof labelled);
	}
}

static void on_mark(void *user, const struct mark *mark)
{
	struct seen *s = user;
	FUZZ_CHECK(mark->start < mark->end && mark->end <= s->outline.offset);
	s->hash = pieces_hash_number(s->hash, mark->kind);
	s->hash = pieces_hash_number(s->hash, mark->start);
	s->hash = pieces_hash_number(s->hash, mark->end);
}

static void on_record(void *user, const struct record *record, const struct event_header *event,
	uint64_t position)
{
	struct seen *s = user;
	struct event e;
	FUZZ_CHECK(event->offset <= s->outline.offset);
	FUZZ_CHECK(event_read(&m.ring.events, &position, &e) == 1);
	FUZZ_CHECK(memcmp(&e.header, event, sizeof *event) == 0);
	FUZZ_CHECK(position == s->outline.position);
	s->hash = pieces_hash_number(s->hash, record->kind);
	s->hash = pieces_hash_number(s->hash, event->offset);
	s->hash = hash_bytes(s->hash, record->id, strlen(record->id) + 1);
	s->records++;
}

static void on_lost(void *user, uint64_t bytes)
{
	struct seen *s = user;
	FUZZ_CHECK(bytes > 0);
	s->lost += bytes;
}

static const struct outline_callbacks callbacks = {
	.text = on_text, .mark = on_mark, .record = on_record, .lost = on_lost};

static void begin(struct seen *s)
{
	*s = (struct seen){.hash = HASH_START, .exact = HASH_START};
	outline_init(&s->outline, NONCE, 0, 0, EVENT_SOURCE_TERMINAL);
}

static void read_on(struct seen *s, uint64_t limit, size_t budget)
{
	uint64_t before = s->outline.offset;
	bool more = outline_read(&s->outline, &m.ring, limit, budget, &callbacks, s);
	FUZZ_CHECK(s->outline.offset >= before && s->outline.offset - before <= budget);
	FUZZ_CHECK(limit < before || s->outline.offset <= limit);
	FUZZ_CHECK(more == (s->outline.offset < limit));
}

/* Holder */

static void reset(void)
{
	int fd;
	struct ring_options options = {.size = RING_SIZE_MIN, .rows = 24, .cols = 80};
	if (!m.ring.header)
		FUZZ_CHECK(ring_create(&m.ring, &options, &fd) == 0);
	struct stream_shared *streams[] = {&m.ring.header->bytes, &m.ring.header->events};
	for (int i = 0; i < 2; i++) {
		atomic_store(&streams[i]->head, 0);
		atomic_store(&streams[i]->reserved, 0);
	}
	m.speaking = EVENT_SOURCE_TERMINAL;
	m.exact = HASH_START;
	m.written = 0;
	m.doubtful = false;
	begin(&m.live);
}

static void append(uint32_t type, const void *payload, size_t length)
{
	struct event_header header = {.offset = stream_head(&m.ring.bytes),
		.time_ns = 1,
		.type = type,
		.length = (uint32_t)length};
	if (stream_head(&m.ring.events) < EVENTS_MAX)
		event_append(&m.ring.events, &header, payload);
}

/* Write text. The holder never overwrites unconsumed bytes: it waits. Returns whether it wrote. */
static bool put(enum event_source source, const uint8_t *text, size_t length)
{
	uint8_t *out;
	size_t n = 0;
	uint32_t label = source;
	if (length == 0 || length > WRITTEN_MAX - m.written ||
		stream_head(&m.ring.events) >= EVENTS_MAX)
		return false;
	m.written += length;
	if (stream_head(&m.ring.bytes) + 2 * length > m.live.outline.offset + RING_SIZE_MIN)
		read_on(&m.live, stream_head(&m.ring.bytes), SIZE_MAX);
	if (source != m.speaking)
		append(EVENT_SOURCE, &label, sizeof label);
	m.speaking = source;
	out = stream_reserve(&m.ring.bytes, 2 * length);
	for (size_t i = 0; i < length; i++) {
		uint8_t labelled[] = {(uint8_t)source, text[i]};
		if (source != EVENT_SOURCE_TERMINAL)
			m.exact = hash_bytes(m.exact, labelled, sizeof labelled);
		if (source != EVENT_SOURCE_TERMINAL && text[i] == '\n')
			out[n++] = '\r';
		out[n++] = text[i];
	}
	stream_commit(&m.ring.bytes, n);
	return true;
}

/* Unfold the next size bytes of the input. */
static size_t next_bytes(struct fuzz_input *in, size_t size, uint8_t bytes[WRITE_MAX])
{
	struct fuzz_input part = {in->at, size < in->left ? size : in->left};
	in->at += part.left;
	in->left -= part.left;
	return fuzz_unfold(&part, bytes, WRITE_MAX);
}

/* Each step is a byte, then its arguments. */
static void run_step(struct fuzz_input *in)
{
	uint8_t bytes[WRITE_MAX];
	uint8_t step = fuzz_byte(in);
	switch (step & 7) {
	case 0:
	case 1:
	case 2:
	case 3: /* text is written */
		put((enum event_source)(step & 3), bytes, next_bytes(in, step >> 3, bytes));
		break;
	case 4: /* a record comes through the sentinel FIFO */
		append(EVENT_FIFO, bytes, next_bytes(in, step >> 3, bytes));
		break;
	case 5: /* any event, including invalid labels */
		m.doubtful = true;
		append(fuzz_byte(in), bytes, next_bytes(in, step >> 3 & 7, bytes));
		break;
	default: /* the live reader continues: distance to the newest byte, budget */
	{
		uint64_t head = stream_head(&m.ring.bytes), back = fuzz_byte(in);
		read_on(&m.live, head > back ? head - back : 0, 1 + (size_t)fuzz_byte(in));
	}
	}
}

/* Read to the end, until nothing is held back for a further byte. */
static void finish(struct seen *s)
{
	uint64_t head = stream_head(&m.ring.bytes);
	read_on(s, head, SIZE_MAX);
	FUZZ_CHECK(s->outline.offset == head);
	FUZZ_CHECK(s->outline.position == stream_head(&m.ring.events));
	FUZZ_CHECK(s->outline.events_lost == 0);
	read_on(s, head, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen late;
	struct fuzz_input in = {data, size};
	reset();
	for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
		run_step(&in);
	bool ended = put(EVENT_SOURCE_TERMINAL, (const uint8_t *)".", 1);
	finish(&m.live);
	begin(&late);
	finish(&late);
	FUZZ_CHECK(m.live.lost == 0 && late.lost == stream_oldest(&m.ring.bytes));
	FUZZ_CHECK(late.records == m.live.records);
	FUZZ_CHECK(late.lost > 0 || late.hash == m.live.hash);
	/* The last byte comes from the terminal, so nothing is held back. */
	FUZZ_CHECK(m.doubtful || !ended || m.live.exact == m.exact);
	return 0;
}
