/*
 * Labels against a plain list of them. Input: the floor, then steps, see run_step(). Labels that were dropped must not
 * be requested; all others must be right, for any number of labels.
 */
#include "ring/labels.h"
#include "tests/fuzz/fuzz.h"

#define ADDED_MAX 40000u
#define STEPS_MAX 200u
#define SAMPLES 64u /* labels that are checked after each step */

struct model {
	struct labels labels;
	uint64_t offsets[ADDED_MAX];
	enum event_source sources[ADDED_MAX];
	unsigned count;
	enum event_source before;
	uint64_t head, forgotten;
	bool full; /* labels were dropped for lack of space */
};

static struct model m;

/* The number of labels up to and including offset. */
static unsigned count_until(uint64_t offset)
{
	unsigned low = 0, high = m.count;
	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		if (m.offsets[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void expect_same(uint64_t offset)
{
	uint64_t end;
	if (offset < m.labels.floor)
		return;
	unsigned n = count_until(offset);
	enum event_source source = labels_find(&m.labels, offset, &end);
	FUZZ_CHECK(source == (n > 0 ? m.sources[n - 1] : m.before));
	FUZZ_CHECK(end == (n < m.count ? m.offsets[n] : UINT64_MAX));
}

static void check(void)
{
	FUZZ_CHECK(m.labels.count <= LABELS_MAX && m.labels.floor <= m.head);
	m.full |= m.labels.count == LABELS_MAX;
	FUZZ_CHECK(m.full || m.labels.floor <= m.forgotten);
	unsigned distance = 1 + m.count / SAMPLES;
	for (unsigned i = 0; i < m.count; i += distance) {
		expect_same(m.offsets[i]);
		expect_same(m.offsets[i] + 1);
		if (m.offsets[i] > 0)
			expect_same(m.offsets[i] - 1);
	}
	expect_same(m.labels.floor);
	expect_same(m.head);
}

/* Add a label to the model. Returns false if it is full. */
static bool note(uint64_t offset, enum event_source source)
{
	bool same = m.count > 0 && m.offsets[m.count - 1] == offset;
	if (m.count == ADDED_MAX && !same)
		return false;
	m.count += !same;
	m.head = offset;
	m.offsets[m.count - 1] = offset;
	m.sources[m.count - 1] = source;
	return true;
}

static void add(uint64_t step, enum event_source source)
{
	uint64_t offset = m.head + step;
	if (note(offset, source))
		labels_add(&m.labels, offset, source);
}

/* An event as in the log: offset, type, length, payload. */
static void add_event(struct fuzz_input *in)
{
	struct event e = {.header = {.offset = m.head + fuzz_byte(in),
				  .type = fuzz_byte(in),
				  .length = fuzz_byte(in)}};
	uint32_t source;
	for (uint32_t i = 0; i < e.header.length && i < 8; i++)
		e.payload[i] = fuzz_byte(in);
	memcpy(&source, e.payload, sizeof source);
	bool is_label = e.header.type == EVENT_SOURCE && e.header.length >= sizeof source &&
		source <= EVENT_SOURCE_STDERR_PTY;
	if (!is_label || note(e.header.offset, (enum event_source)source))
		labels_add_event(&m.labels, &e);
}

static void run_step(struct fuzz_input *in)
{
	uint8_t step = fuzz_byte(in);
	enum event_source source = step >> 2 & 3;
	switch (step & 3) {
	case 0: /* distance */
		add(fuzz_byte(in), source);
		break;
	case 1: /* many: the number, 64 each */
		for (unsigned n = fuzz_byte(in) * 64u; n > 0; n--)
			add(1 + (step >> 6), (enum event_source)((source + n) & 3));
		break;
	case 2: /* distance from the newest byte or, with the next bit, from the oldest label */
	{
		uint64_t distance = (uint64_t)fuzz_byte(in) << (step >> 3 & 15);
		uint64_t offset = m.head > distance ? m.head - distance : 0;
		if (step & 4)
			offset = m.labels.floor + distance;
		offset = offset < m.head ? offset : m.head;
		labels_forget(&m.labels, offset);
		m.forgotten = offset > m.forgotten ? offset : m.forgotten;
		break;
	}
	default:
		add_event(in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint64_t floor = (uint64_t)fuzz_byte(&in) << (fuzz_byte(&in) % 50);
	m.before = fuzz_byte(&in) & 3;
	m.head = m.forgotten = floor;
	m.count = 0;
	m.full = false;
	labels_init(&m.labels, floor, m.before);
	for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++) {
		run_step(&in);
		check();
	}
	labels_finish(&m.labels);
	return 0;
}
