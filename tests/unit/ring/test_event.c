#include "ring/event.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static void append(struct stream *log, uint64_t offset, const void *payload, size_t length)
{
	struct event_header header = {.offset = offset,
		.time_ns = offset + 1,
		.type = EVENT_FIFO,
		.length = (uint32_t)length};
	event_append(log, &header, payload);
}

Test(event_size, is_a_multiple_of_eight_with_the_header)
{
	cr_assert_eq(event_size(0), 32);
	cr_assert_eq(event_size(1), 40);
	cr_assert_eq(event_size(8), 40);
	cr_assert_eq(event_size(9), 48);
	cr_assert_eq(event_size(EVENT_PAYLOAD_MAX), 32 + 4096);
}

Test(event_read, empty_log_gives_nothing)
{
	struct ring r;
	struct event e;
	uint64_t offset = 0;
	memory_ring_make(&r, 0);
	cr_assert_eq(event_read(&r.events, &offset, &e), 0);
	cr_assert_eq(offset, 0);
	ring_close(&r);
}

Test(event_read, returns_what_was_appended)
{
	struct ring r;
	struct event e;
	uint64_t offset = 0;
	memory_ring_make(&r, 0);
	append(&r.events, 5, "status 0\n", 9);
	append(&r.events, 6, NULL, 0);
	cr_assert_eq(event_read(&r.events, &offset, &e), 1);
	cr_assert_eq(e.header.offset, 5);
	cr_assert_eq(e.header.time_ns, 6);
	cr_assert_eq(e.header.type, EVENT_FIFO);
	cr_assert_eq(e.header.length, 9);
	cr_assert_arr_eq(e.payload, "status 0\n", 9);
	cr_assert_eq(offset, event_size(9));
	cr_assert_eq(event_read(&r.events, &offset, &e), 1);
	cr_assert_eq(e.header.length, 0);
	cr_assert_eq(event_read(&r.events, &offset, &e), 0);
	ring_close(&r);
}

Test(event_read, lapped_reader_is_notified_and_moved_to_the_head)
{
	static const uint8_t payload[EVENT_PAYLOAD_MAX];
	struct ring r;
	struct event e;
	uint64_t offset = 0;
	memory_ring_make(&r, 0);
	for (size_t done = 0; done <= RING_EVENTS_SIZE; done += event_size(sizeof payload))
		append(&r.events, done, payload, sizeof payload);
	cr_assert_eq(event_read(&r.events, &offset, &e), -ENODATA);
	cr_assert_eq(offset, stream_head(&r.events));
	append(&r.events, 1, "x", 1);
	cr_assert_eq(event_read(&r.events, &offset, &e), 1);
	ring_close(&r);
}

static void expect_damage(size_t length, const struct event_header *header)
{
	struct ring r;
	struct event e;
	uint64_t offset = 0;
	memory_ring_make(&r, 0);
	memcpy(stream_reserve(&r.events, length), header, length);
	stream_commit(&r.events, length);
	memset(&e, 0x55, sizeof e);
	cr_assert_eq(event_read(&r.events, &offset, &e), -EBADMSG);
	cr_assert_eq(offset, stream_head(&r.events));
	cr_assert_eq(e.payload[0], 0x55);
	ring_close(&r);
}

Test(event_read, record_shorter_than_its_header_is_damaged)
{
	expect_damage(16, &(struct event_header){.type = EVENT_FIFO});
}

Test(event_read, length_beyond_the_limit_is_damaged)
{
	expect_damage(sizeof(struct event_header),
		&(struct event_header){.type = EVENT_FIFO, .length = EVENT_PAYLOAD_MAX + 1});
}

Test(event_read, length_that_overflows_is_damaged)
{
	expect_damage(sizeof(struct event_header),
		&(struct event_header){.type = EVENT_FIFO, .length = UINT32_MAX});
}

Test(event_read, length_beyond_the_head_is_damaged)
{
	expect_damage(sizeof(struct event_header),
		&(struct event_header){.type = EVENT_FIFO, .length = 8});
}

Test(event_append, refuses_a_payload_beyond_the_limit, .signal = SIGABRT)
{
	static const uint8_t payload[EVENT_PAYLOAD_MAX + 1];
	struct ring r;
	memory_ring_make(&r, 0);
	append(&r.events, 0, payload, sizeof payload);
}

/* The n-th event of a sequence: length and content follow from n. */
static size_t nth_event(uint64_t n, uint8_t *payload)
{
	struct random r = {n * 2 + 1};
	random_next(&r);
	size_t length = random_below(&r, 6) ? random_below(&r, 60)
					    : random_below(&r, EVENT_PAYLOAD_MAX + 1);
	for (size_t i = 0; i < length; i++)
		payload[i] = (uint8_t)(n * 31 + i);
	return length;
}

static bool is_nth_event(const struct event *e)
{
	static uint8_t payload[EVENT_PAYLOAD_MAX];
	size_t length = nth_event(e->header.offset, payload);
	return e->header.time_ns == e->header.offset + 1 && e->header.type == EVENT_FIFO &&
		e->header.length == length && memcmp(e->payload, payload, length) == 0;
}

Test(event_model, random_appends_and_reads_give_events_in_order, .timeout = 30)
{
	static struct event e;
	static uint8_t payload[EVENT_PAYLOAD_MAX];
	struct ring r;
	struct random random = {3};
	uint64_t written = 0, next[3] = {0}, offsets[3] = {0}, lapped = 0;
	memory_ring_make(&r, 0);
	for (int i = 0; i < 50000; i++) {
		size_t reader = random_below(&random, 3);
		if (random_below(&random, 2)) {
			append(&r.events, written, payload, nth_event(written, payload));
			written++;
			continue;
		}
		/* The first reader reads often, the last rarely. */
		if (reader > 0 && random_below(&random, reader == 1 ? 10 : 2000) != 0)
			continue;
		int rc;
		while ((rc = event_read(&r.events, &offsets[reader], &e)) != 0) {
			if (rc == -ENODATA) {
				lapped++;
				next[reader] = written;
				continue;
			}
			cr_assert_eq(rc, 1);
			cr_assert(is_nth_event(&e));
			cr_assert_eq(e.header.offset, next[reader]++);
		}
		cr_assert_eq(next[reader], written);
	}
	cr_assert_gt(lapped, 0, "the last reader was lapped");
	ring_close(&r);
}

static int read_events(const struct ring *r)
{
	static struct event e;
	uint64_t offset = 0, next = 0, got = 0, lapped = 0;
	while (got < 60000 || (lapped == 0 && got < 600000)) {
		int rc = event_read(&r->events, &offset, &e);
		if (rc == -EBADMSG)
			return 1;
		if (rc == -ENODATA)
			lapped++;
		if (rc != 1)
			continue;
		if (!is_nth_event(&e) || e.header.offset < next)
			return 2;
		next = e.header.offset + 1;
		got++;
		if (got % 5000 == 0)
			usleep(3000); /* lag behind */
	}
	return 0;
}

Test(event_processes, reader_gets_whole_events_or_is_notified, .timeout = 60)
{
	static uint8_t payload[EVENT_PAYLOAD_MAX];
	struct ring r;
	int status;
	memory_ring_make(&r, 0);
	pid_t writer = fork();
	if (writer == 0)
		for (uint64_t n = 0;; n++)
			append(&r.events, n, payload, nth_event(n, payload));
	pid_t reader = fork();
	if (reader == 0)
		_exit(read_events(&r));
	cr_assert_eq(waitpid(reader, &status, 0), reader);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	cr_assert_eq(status, 0, "reader ended with %#x", status);
	ring_close(&r);
}
