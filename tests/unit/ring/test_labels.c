#include "ring/labels.h"

#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdint.h>

static struct labels l;
static struct ring r;

static void set_up(void)
{
	labels_init(&l, 0, EVENT_SOURCE_TERMINAL);
	memory_ring_make(&r, RING_SIZE_MIN);
}

static void tear_down(void)
{
	labels_finish(&l);
	ring_close(&r);
}

static void restart(void)
{
	tear_down();
	set_up();
}

TestSuite(labels, .init = set_up, .fini = tear_down, .timeout = 10);

static void assert_writer(uint64_t offset, enum event_source source, uint64_t end)
{
	uint64_t found_end;
	cr_assert_eq(
		labels_find(&l, offset, &found_end), source, "at %llu", (unsigned long long)offset);
	cr_assert_eq(found_end, end, "end of the run at %llu", (unsigned long long)offset);
}

Test(labels, each_byte_has_its_source)
{
	assert_writer(0, EVENT_SOURCE_TERMINAL, UINT64_MAX);
	labels_add(&l, 5, EVENT_SOURCE_STDOUT);
	labels_add(&l, 9, EVENT_SOURCE_STDERR);
	assert_writer(4, EVENT_SOURCE_TERMINAL, 5);
	assert_writer(5, EVENT_SOURCE_STDOUT, 9);
	assert_writer(8, EVENT_SOURCE_STDOUT, 9);
	assert_writer(9, EVENT_SOURCE_STDERR, UINT64_MAX);
}

Test(labels, later_label_at_the_same_offset_counts)
{
	labels_add(&l, 0, EVENT_SOURCE_STDOUT);
	assert_writer(0, EVENT_SOURCE_STDOUT, UINT64_MAX);
	labels_add(&l, 7, EVENT_SOURCE_STDERR);
	labels_add(&l, 7, EVENT_SOURCE_TERMINAL);
	assert_writer(7, EVENT_SOURCE_TERMINAL, UINT64_MAX);
}

Test(labels, forgetting_keeps_the_source_of_the_rest)
{
	for (unsigned i = 1; i <= 100; i++)
		labels_add(&l, 10 * i, i % 2 ? EVENT_SOURCE_STDOUT : EVENT_SOURCE_STDERR);
	labels_forget(&l, 505);
	cr_assert_leq(l.floor, 505);
	cr_assert_eq(l.count, 50);
	assert_writer(505, EVENT_SOURCE_STDERR, 510);
	assert_writer(510, EVENT_SOURCE_STDOUT, 520);
	labels_forget(&l, UINT32_MAX);
	assert_writer(UINT32_MAX, EVENT_SOURCE_STDERR, UINT64_MAX);
}

Test(labels, too_many_raise_the_floor)
{
	for (uint64_t i = 1; i <= LABELS_MAX + 1000; i++)
		labels_add(&l, 3 * i, i % 2 ? EVENT_SOURCE_STDOUT : EVENT_SOURCE_STDERR);
	cr_assert_leq(l.count, LABELS_MAX);
	cr_assert_eq(l.floor, 3 * 1000);
	assert_writer(l.floor, EVENT_SOURCE_STDERR, l.floor + 3);
	assert_writer(3 * (LABELS_MAX + 1000), EVENT_SOURCE_STDERR, UINT64_MAX);
}

Test(labels, only_events_of_type_source_are_added)
{
	struct event e = {
		.header = {.offset = 3, .type = EVENT_SOURCE, .length = 4}, .payload = {2}};
	labels_add_event(&l, &e);
	assert_writer(3, EVENT_SOURCE_STDERR, UINT64_MAX);
	e.header.offset = 5;
	e.header.type = EVENT_RESIZE;
	labels_add_event(&l, &e);
	e.header.type = EVENT_SOURCE;
	e.payload[0] = 77;
	labels_add_event(&l, &e);
	e.payload[0] = 1;
	e.header.length = 2;
	labels_add_event(&l, &e);
	cr_assert_eq(l.count, 1);
}

/* A log that has wrapped, whose records before `tail` are consumed. */
static uint64_t write_log(unsigned records, struct random *random)
{
	static const uint8_t junk[EVENT_PAYLOAD_MAX] = "p 1\n";
	for (unsigned i = 0; i < records; i++) {
		uint32_t source = 1 + i % 2;
		memory_ring_put(&r, "x", 1);
		if (random && random_below(random, 10) == 0)
			memory_ring_event(&r, EVENT_FIFO, junk, 1 + random_below(random, 200));
		memory_ring_event(&r, EVENT_SOURCE, &source, sizeof source);
	}
	return stream_head(&r.events);
}

Test(labels, log_that_has_not_wrapped_is_read_from_its_beginning)
{
	uint64_t tail = write_log(100, NULL);
	cr_assert_eq(labels_log_start(&r.events, tail), 0);
}

Test(labels, wrapped_log_is_read_from_its_oldest_whole_record)
{
	for (unsigned seed = 1; seed < 20; seed++) {
		struct random random = {seed};
		struct event e;
		restart();
		uint64_t tail = write_log(12000 + seed * 100, &random);
		uint64_t oldest = stream_oldest(&r.events);
		cr_assert_gt(oldest, 0);
		uint64_t at = labels_log_start(&r.events, tail);
		cr_assert_geq(at, oldest);
		cr_assert_lt(at, oldest + event_size(256));
		while (at < tail)
			cr_assert_eq(event_read(&r.events, &at, &e), 1);
		cr_assert_eq(at, tail);
	}
}

Test(labels, log_without_a_recognisable_record_is_read_from_its_tail)
{
	memset(stream_reserve(&r.events, r.events.size), 0xee, r.events.size);
	stream_commit(&r.events, r.events.size);
	memset(stream_reserve(&r.events, 4096), 0xee, 4096);
	stream_commit(&r.events, 4096);
	uint64_t head = stream_head(&r.events);
	cr_assert_eq(labels_log_start(&r.events, head), head);
	cr_assert_eq(labels_log_start(&r.events, head + 999), head);
}

Test(labels, log_with_an_invalid_header_is_read_from_its_tail)
{
	static const uint64_t heads[] = {UINT64_C(1) << 62, UINT64_MAX - 7, UINT64_MAX};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		restart();
		atomic_store(&r.header->events.head, heads[i]);
		atomic_store(&r.header->events.reserved, r.events.size + 8);
		cr_assert_eq(labels_log_start(&r.events, heads[i]), heads[i]);
	}
}
