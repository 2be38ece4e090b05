/* Readers of a ring whose writer means harm: it writes into the header, the log, the bytes and the control page what it likes. */
#include "ring/checkpoint.h"
#include "ring/live.h"
#include "ring/search/search.h"
#include "tests/lib/leak.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR (STREAM_OFFSET_MAX / 2)

/* The holder's mapping, the server's, and what the server makes of it. */
static struct {
	struct ring holder, ring;
	struct control held, control;
	struct history history;
	struct live live;
} f;

static const char line[] = "\x1b[32mgreen\x1b[m 0123456789 \xe4\xb8\xad\xe6\x96\x87 text\r\n";

static void say(const void *bytes, size_t length)
{
	memcpy(stream_reserve(&f.holder.bytes, length), bytes, length);
	stream_commit(&f.holder.bytes, length);
}

static void say_lines(size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof line - 1)
		say(line, sizeof line - 1);
}

static void tell(uint32_t type, uint64_t offset, const void *payload, size_t length)
{
	const struct event_header header = {
		.offset = offset, .type = type, .length = (uint32_t)length};
	event_append(&f.holder.events, &header, payload);
}

static void set_up(void)
{
	const struct ring_options options = {.size = RING_SIZE_MIN, .rows = 24, .cols = 80};
	const struct live_options live = {.scrollback = 100};
	int fd, control_fd;
	cr_assert_eq(ring_create(&f.holder, &options, &fd), 0);
	cr_assert_eq(ring_open(&f.ring, fd), 0);
	cr_assert_eq(control_create(&f.held, 256 << 10, &control_fd), 0);
	cr_assert_eq(control_open(&f.control, control_fd), 0);
	close(fd);
	close(control_fd);
	cr_assert_eq(history_init(&f.history, &f.ring, &f.control), 0);
	cr_assert_eq(live_init(&f.live, &f.history, &live), 0);
}

static void tear_down(void)
{
	live_finish(&f.live);
	history_finish(&f.history);
	ring_close(&f.ring);
	ring_close(&f.holder);
	control_close(&f.control);
	control_close(&f.held);
}

/* All that a server does with it. It must come to an end, and what it says be within bounds. */
static void read_all(void)
{
	static uint8_t bytes[SCAN_STRING_MAX + 1];
	struct history_cursor c;
	history_consume(&f.history, 4 * RING_SIZE_MIN, false);
	live_follow(&f.live, SIZE_MAX);
	uint64_t head = stream_head(&f.ring.bytes), oldest = stream_oldest(&f.ring.bytes);
	cr_assert_leq(oldest, head);
	cr_assert_leq(head - oldest, f.ring.bytes.size);
	cr_assert_leq(head, STREAM_OFFSET_MAX);
	cr_assert_leq(history_limit(&f.history), head);
	history_seek(&f.history, &c, true, 0);
	for (unsigned i = 0; i < 3000; i++)
		if (history_read(&f.history, &c, bytes, sizeof bytes).item == HISTORY_NOTHING)
			break;
	cr_assert_leq(labels_log_start(&f.ring.events, UINT64_MAX), stream_head(&f.ring.events));
	struct screen *screen = live_screen(&f.live);
	cr_assert(!screen || (screen_rows(screen) <= 1000 && screen_cols(screen) <= 1000));
}

TestSuite(hostile_header, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(hostile_events, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(hostile_bytes, .init = set_up, .fini = tear_down, .timeout = 120);
TestSuite(hostile_control, .init = set_up, .fini = tear_down, .timeout = 60);

static const uint64_t numbers[] = {0, 1, 7, 4095, 4096, RING_SIZE_MIN - 1, RING_SIZE_MIN,
	RING_SIZE_MIN + 1, 2 * RING_SIZE_MIN, 3 * RING_SIZE_MIN + 1, FAR, STREAM_OFFSET_MAX,
	STREAM_OFFSET_MAX + 1, INT64_MAX, UINT64_MAX - RING_SIZE_MIN, UINT64_MAX - 7, UINT64_MAX};
#define NUMBERS (sizeof numbers / sizeof *numbers)

Test(hostile_header, any_head_and_reserved_of_either_stream)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		for (size_t j = 0; j < 2 * NUMBERS; j++) {
			struct stream_shared *s = j < NUMBERS ? &f.holder.header->bytes
							      : &f.holder.header->events;
			say_lines(30000);
			read_all();
			atomic_store(&s->head, numbers[i]);
			atomic_store(&s->reserved, numbers[j % NUMBERS]);
			read_all();
			say_lines(3000);
			read_all();
			tear_down();
			set_up();
		}
	}
}

/* What is seen of a stream is damaged, and stays as it was. */
static void expect_damaged(uint64_t head, uint64_t reserved)
{
	struct stream_shared *s = &f.holder.header->bytes;
	say_lines(1000);
	uint64_t seen = stream_head(&f.ring.bytes), oldest = stream_oldest(&f.ring.bytes);
	atomic_store(&s->head, head);
	atomic_store(&s->reserved, reserved);
	cr_expect_eq(stream_head(&f.ring.bytes), seen);
	cr_expect_eq(stream_oldest(&f.ring.bytes), oldest);
	cr_expect(ring_is_damaged(&f.ring));
	atomic_store(&s->head, seen + 1);
	atomic_store(&s->reserved, seen + 1);
	cr_expect_eq(stream_head(&f.ring.bytes), seen, "it is not believed any more");
	cr_expect(ring_is_damaged(&f.ring));
}

Test(hostile_header, head_that_goes_back)
{
	expect_damaged(999, 1000);
}

Test(hostile_header, head_beyond_what_was_reserved)
{
	expect_damaged(5000, 4999);
}

Test(hostile_header, more_reserved_than_there_is_room_for)
{
	expect_damaged(5000, 5001 + 2 * RING_SIZE_MIN);
}

Test(hostile_header, head_of_a_number_that_overflows)
{
	expect_damaged(UINT64_MAX - 7, UINT64_MAX);
}

Test(hostile_header, what_has_moved_since_it_was_mapped_does_not_count)
{
	static const uint64_t sizes[] = {0, 1, 4096, RING_SIZE_MAX, UINT64_MAX};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		f.holder.header->bytes.size = f.holder.header->events.size = sizes[i];
		f.holder.header->bytes.position = f.holder.header->events.position = ~sizes[i];
		say_lines(5000);
		read_all();
		cr_expect_eq(f.history.scan.offset, stream_head(&f.holder.bytes));
	}
	cr_expect_not(ring_is_damaged(&f.ring));
}

Test(hostile_header, end_beyond_the_head_is_the_head)
{
	struct ring_exit exit;
	say_lines(1000);
	f.holder.header->exit_offset = UINT64_MAX;
	f.holder.header->exit_time_ns = UINT64_MAX;
	atomic_store(&f.holder.header->exited, 1);
	read_all();
	cr_expect(f.history.ended);
	cr_expect_eq(f.history.end_offset, stream_head(&f.holder.bytes));
	cr_expect(ring_exited(&f.ring, &exit) && exit.offset == f.history.end_offset);
}

Test(hostile_header, end_does_not_take_back_what_readers_have)
{
	say_lines(1000);
	read_all();
	uint64_t limit = history_limit(&f.history);
	atomic_store(&f.holder.header->exited, 1); /* at 0 */
	read_all();
	cr_expect(f.history.ended);
	cr_expect_eq(history_limit(&f.history), limit);
}

Test(hostile_header, geometry_is_within_the_limits)
{
	unsigned rows, cols;
	atomic_store(&f.holder.header->geometry, UINT32_MAX);
	ring_geometry(&f.ring, &rows, &cols);
	cr_expect(rows == RING_SIDE_MAX && cols == RING_SIDE_MAX);
	atomic_store(&f.holder.header->geometry, 0);
	ring_geometry(&f.ring, &rows, &cols);
	cr_expect(rows == 1 && cols == 1);
}

Test(hostile_events, sizes_are_within_the_limits)
{
	static const uint16_t sides[] = {0, 1, 2, 1000, 1001, UINT16_MAX};
	for (size_t i = 0; i < 36; i++) {
		const struct event_resize size = {sides[i / 6], sides[i % 6]};
		tell(EVENT_RESIZE, stream_head(&f.holder.bytes), &size, sizeof size);
		say_lines(100);
		read_all();
		struct history_size known = history_size_number(
			&f.history, f.history.sizes_count - 1);
		cr_expect(known.rows >= 1 && known.rows <= RING_SIDE_MAX);
		cr_expect(known.cols >= 1 && known.cols <= RING_SIDE_MAX);
	}
}

Test(hostile_events, offsets_that_go_to_and_fro)
{
	struct random r = {.state = 1};
	for (unsigned i = 0; i < 4000; i++) {
		uint32_t source = (uint32_t)random_below(&r, 6);
		struct event_resize size = {24, 80};
		uint64_t offset = numbers[random_below(&r, NUMBERS)] + random_below(&r, 5000);
		if (i % 3 == 0)
			tell(EVENT_RESIZE, offset, &size, sizeof size);
		else
			tell(EVENT_SOURCE, offset, &source, sizeof source);
		if (i % 20 == 0) {
			say_lines(1000);
			read_all();
		}
	}
}

Test(hostile_events, number_that_is_no_offset_is_no_event)
{
	struct event e;
	uint64_t at = 0;
	tell(EVENT_FIFO, STREAM_OFFSET_MAX + 1, "x", 1);
	cr_expect_eq(event_read(&f.ring.events, &at, &e), -EBADMSG);
	cr_expect_eq(at, stream_head(&f.ring.events));
}

/* Each place of the log may begin a record, and each leads nearly to the end. */
Test(hostile_events, log_that_nearly_leads_to_its_end_everywhere)
{
	struct event_header *log = (struct event_header *)(void *)f.holder.events.data;
	size_t size = f.holder.events.size, count = size / sizeof *log;
	for (size_t i = 0; i < count; i++)
		log[i] = (struct event_header){.offset = 1 | UINT64_C(1) << 32, .type = 1};
	log[count - 1].type = 77;
	atomic_store(&f.holder.header->events.reserved, 2 * size);
	atomic_store(&f.holder.header->events.head, 2 * size);
	for (unsigned i = 0; i < 20; i++)
		cr_assert_leq(labels_log_start(&f.ring.events, 2 * size - i * 8), 2 * size);
}

Test(hostile_events, any_log)
{
	struct random r = {.state = 7};
	for (unsigned round = 0; round < 300; round++) {
		for (size_t i = 0; i < f.holder.events.size; i += 8) {
			uint64_t word = random_below(&r, 3) ? random_below(&r, 9) : random_next(&r);
			memcpy(f.holder.events.data + i, &word, sizeof word);
		}
		uint64_t head = stream_head(&f.holder.events) + random_below(&r, 9000);
		atomic_store(&f.holder.header->events.reserved, head);
		atomic_store(&f.holder.header->events.head, head);
		say_lines(500);
		read_all();
	}
}

static atomic_bool over;

/* Change bytes as fast as can be. */
static void *scribble(void *unused)
{
	static const char what[] = "\n\r\t \x1b[mK]8;x\x07\x80\xc3\xe4\xff";
	struct random r = {.state = 3};
	(void)unused;
	while (!atomic_load(&over)) {
		volatile uint8_t *data = f.holder.bytes.data;
		data[random_below(&r, f.holder.bytes.size)] = (uint8_t)
			what[random_below(&r, sizeof what)];
	}
	return NULL;
}

Test(hostile_bytes, that_change_while_they_are_looked_at)
{
	pthread_t thread;
	cr_assert_eq(pthread_create(&thread, NULL, scribble, NULL), 0);
	for (unsigned i = 0; i < 400; i++) {
		say_lines(30000);
		read_all();
		if (i % 2 == 0 && f.live.screen && live_send(&f.live)) {
			live_work(&f.live);
			live_take(&f.live);
		}
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	cr_expect_not(ring_is_damaged(&f.ring), "any bytes are output");
}

Test(hostile_control, any_tails_are_at_most_the_head)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		atomic_store(&f.held.page->tail, numbers[i]);
		atomic_store(&f.held.page->events_tail, numbers[i]);
		cr_expect_leq(control_tail(&f.control, 100), 100);
		cr_expect_leq(control_events_tail(&f.control, 100), 100);
		cr_expect_leq(control_answered(&f.control, 100), 100);
		for (size_t j = 0; j < CONTROL_GROUNDS; j++)
			atomic_store(&f.held.page->ground[j], numbers[(i + j) % NUMBERS]);
		say_lines(1000);
		struct history other;
		cr_assert_eq(history_init(&other, &f.ring, &f.control), 0);
		history_catch_up(&other);
		cr_expect_eq(other.scan.offset, stream_head(&f.ring.bytes));
		history_finish(&other);
		read_all();
	}
}

Test(hostile_control, size_that_the_page_tells_does_not_count)
{
	size_t room = checkpoint_room(&f.control);
	const struct checkpoint c = {.offset = 1, .rows = 1, .cols = 2, .bytes = "x", .length = 1};
	for (size_t i = 0; i < NUMBERS; i++) {
		f.held.page->size = numbers[i];
		cr_expect_eq(checkpoint_room(&f.control), room);
		cr_expect(checkpoint_write(&f.control, &c));
	}
	char *behind = (char *)f.control.page + 8192;
	control_close(&f.control);
	cr_expect_eq(msync(behind, 4096, MS_ASYNC), -1, "all of it has been unmapped");
}

Test(hostile_control, any_slot)
{
	struct random r = {.state = 5};
	const struct live_options options = {.scrollback = 100};
	const struct checkpoint c = {
		.offset = 64, .rows = 24, .cols = 80, .bytes = line, .length = sizeof line - 1};
	say_lines(1000);
	history_consume(&f.history, SIZE_MAX, false);
	for (unsigned i = 0; i < 4000; i++) {
		cr_assert(checkpoint_write(&f.control, &c) || i > 0);
		char *slot = (char *)f.held.page + 4096 + (i % 2) * checkpoint_room(&f.control);
		uint64_t word = i % 2 ? numbers[random_below(&r, NUMBERS)] : random_next(&r);
		memcpy(slot + random_below(&r, 12) * 8, &word, sizeof word);
		struct live other;
		cr_assert_eq(live_init(&other, &f.history, &options), 0);
		live_follow(&other, SIZE_MAX);
		live_finish(&other);
	}
}

/* One whose sum is right, of any size. */
Test(hostile_control, checkpoint_of_a_screen_that_cannot_be)
{
	static const unsigned sides[] = {0, 1, 1000, 1001, 65536, UINT32_MAX};
	const struct live_options options = {.scrollback = 100};
	say_lines(1000);
	history_consume(&f.history, SIZE_MAX, false);
	for (size_t i = 0; i < 36; i++) {
		const struct checkpoint c = {.offset = 64,
			.rows = sides[i / 6],
			.cols = sides[i % 6],
			.bytes = line,
			.length = sizeof line - 1};
		struct live other;
		cr_assert(checkpoint_write(&f.control, &c));
		cr_assert_eq(live_init(&other, &f.history, &options), 0);
		live_follow(&other, SIZE_MAX);
		cr_expect_eq(screen_offset(other.screen), stream_head(&f.ring.bytes));
		live_finish(&other);
	}
}

/* A file of so many bytes with this header, of pages that the flags say. Returns -errno when there are none such. */
static int forge(const struct ring_header *header, off_t size, unsigned flags)
{
	int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	if (fd < 0 || ftruncate(fd, size) < 0)
		return -errno;
	if (flags == 0)
		cr_assert_eq(pwrite(fd, header, sizeof *header, 0), (ssize_t)sizeof *header);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

static struct ring_header header_of(size_t size)
{
	const struct ring_options options = {.size = size, .rows = 24, .cols = 80};
	struct ring r;
	int fd;
	cr_assert_eq(ring_create(&r, &options, &fd), 0);
	struct ring_header header = *r.header;
	ring_close(&r);
	close(fd);
	return header;
}

Test(hostile_file, log_that_would_take_long_to_look_at)
{
	struct ring_header header = header_of(16 << 20);
	struct ring r;
	int fd = forge(&header, 17 << 20, 0);
	cr_assert_eq(ring_open(&r, fd), 0);
	ring_close(&r);
	close(fd);
	header.events.position = header.bytes.position;
	header.events.size = 2 * RING_EVENTS_SIZE_MAX;
	fd = forge(&header, 17 << 20, 0);
	cr_assert_eq(ring_open(&r, fd), -EPROTO);
	close(fd);
}

/* There need not be any of them, and then whoever touches one is killed. */
Test(hostile_file, huge_pages)
{
	struct ring r;
	struct control c;
	int fd = forge(NULL, 16 << 20, MFD_HUGETLB);
	if (fd < 0)
		cr_skip_test("this kernel has no huge pages");
	cr_assert_eq(ring_open(&r, fd), -EPROTO);
	cr_assert_eq(control_open(&c, fd), -EPROTO);
	close(fd);
}
