#include "ring/event.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct ring r;

static void set_up(void)
{
	memory_ring_make(&r, 0);
}

static void tear_down(void)
{
	ring_close(&r);
}

#define SUITE .init = set_up, .fini = tear_down, .timeout = 60
TestSuite(event_read, SUITE);
TestSuite(event_append, SUITE);
TestSuite(event_model, SUITE);
TestSuite(event_processes, SUITE);

static void append(uint64_t offset, const void *payload, size_t length)
{
	struct event_header header = {.offset = offset,
		.time_ns = offset + 1,
		.type = EVENT_FIFO,
		.length = (uint32_t)length};
	event_append(&r.events, &header, payload);
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
	struct event e;
	uint64_t offset = 0;
	cr_assert_eq(event_read(&r.events, &offset, &e), 0);
	cr_assert_eq(offset, 0);
}

Test(event_read, returns_what_was_appended)
{
	struct event e;
	uint64_t offset = 0;
	append(5, "status 0\n", 9);
	append(6, NULL, 0);
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
}

Test(event_read, lapped_reader_is_notified_and_moved_to_the_head)
{
	static const uint8_t payload[EVENT_PAYLOAD_MAX];
	struct event e;
	uint64_t offset = 0;
	for (size_t done = 0; done <= RING_EVENTS_SIZE; done += event_size(sizeof payload))
		append(done, payload, sizeof payload);
	cr_assert_eq(event_read(&r.events, &offset, &e), -ENODATA);
	cr_assert_eq(offset, stream_head(&r.events));
	append(1, "x", 1);
	cr_assert_eq(event_read(&r.events, &offset, &e), 1);
}

Test(event_read, damaged_record_is_reported_and_skipped)
{
	static const struct {
		const char *name;
		size_t size;
		uint32_t length;
	} cases[] = {{"shorter than its header", 16, 0},
		{"length beyond the limit", sizeof(struct event_header), EVENT_PAYLOAD_MAX + 1},
		{"length that overflows", sizeof(struct event_header), UINT32_MAX},
		{"length beyond the head", sizeof(struct event_header), 8}};
	struct event e;
	uint64_t offset = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct event_header header = {.type = EVENT_FIFO, .length = cases[i].length};
		memcpy(stream_reserve(&r.events, cases[i].size), &header, cases[i].size);
		stream_commit(&r.events, cases[i].size);
		memset(&e, 0x55, sizeof e);
		cr_expect_eq(event_read(&r.events, &offset, &e), -EBADMSG, "%s", cases[i].name);
		cr_expect_eq(offset, stream_head(&r.events), "%s", cases[i].name);
		cr_expect_eq(e.payload[0], 0x55, "%s", cases[i].name);
	}
}

Test(event_append, refuses_a_payload_beyond_the_limit, .signal = SIGABRT)
{
	static const uint8_t payload[EVENT_PAYLOAD_MAX + 1];
	append(0, payload, sizeof payload);
}

/* The n-th event of a sequence: length and content follow from n. */
static size_t nth_event(uint64_t n, uint8_t *payload)
{
	struct random random = {n * 2 + 1};
	random_next(&random);
	size_t length = random_below(&random, 6) ? random_below(&random, 60)
						 : random_below(&random, EVENT_PAYLOAD_MAX + 1);
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

Test(event_model, random_appends_and_reads_give_events_in_order)
{
	static struct event e;
	static uint8_t payload[EVENT_PAYLOAD_MAX];
	struct random random = {3};
	uint64_t written = 0, next[3] = {0}, offsets[3] = {0}, lapped = 0;
	for (int i = 0; i < 50000; i++) {
		size_t reader = random_below(&random, 3);
		if (random_below(&random, 2)) {
			append(written, payload, nth_event(written, payload));
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
}

static int read_events(void)
{
	static struct event e;
	uint64_t offset = 0, next = 0, got = 0, lapped = 0;
	while (got < 60000 || (lapped == 0 && got < 600000)) {
		int rc = event_read(&r.events, &offset, &e);
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

Test(event_processes, reader_gets_whole_events_or_is_notified)
{
	static uint8_t payload[EVENT_PAYLOAD_MAX];
	int status;
	pid_t writer = fork();
	if (writer == 0)
		for (uint64_t n = 0;; n++)
			append(n, payload, nth_event(n, payload));
	pid_t reader = fork();
	if (reader == 0)
		_exit(read_events());
	cr_assert_eq(waitpid(reader, &status, 0), reader);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	cr_assert_eq(status, 0, "reader ended with %#x", status);
}
