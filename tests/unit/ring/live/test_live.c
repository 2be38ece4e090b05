#include "ring/live/checkpoint.h"
#include "ring/live/live.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE ((size_t)4096)
#define CONTROL_SIZE (PAGE + 2 * (512 * 1024))
#define HALF (RING_SIZE_MIN / 2)
#define SCROLLBACK 200u
#define WORK ((size_t)1 << 20) /* more than all the work takes */

/* Replies and events of a screen since the last check. */
struct recorded {
	char replies[8192];
	char events[8192]; /* offset, type and text of each */
};

/* A server's state of a session. */
struct server {
	struct history history;
	struct live live;
	struct recorded recorded;
};

struct fixture {
	struct ring ring;
	struct control control;
	int fd;
	struct server s;
	uint64_t tail; /* tail that the holder got last */
};

static struct fixture f;
static struct server other;     /* which follows the same session */
static struct screen *expected; /* of 24 rows and 80 columns, which a test feeds */

static void append(char *text, size_t size, const char *more, size_t length)
{
	size_t used = strlen(text);
	cr_assert_lt(used + length, size);
	memcpy(text + used, more, length);
	text[used + length] = '\0';
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	struct recorded *h = user;
	append(h->replies, sizeof h->replies, bytes, length);
}

static void on_event(void *user, const struct screen_event *e)
{
	struct recorded *h = user;
	char text[64];
	int length = snprintf(text, sizeof text, "%llu:%d:%.*s ", (unsigned long long)e->offset,
		(int)e->type, (int)e->length, e->text);
	append(h->events, sizeof h->events, text, (size_t)length);
}

static const struct screen_callbacks callbacks = {.reply = on_reply, .event = on_event};

static void start(struct server *s, bool adopt, const struct control *control, unsigned scrollback)
{
	*s = (struct server){0};
	cr_assert_eq(history_init(&s->history, &f.ring, control), 0);
	if (adopt)
		history_catch_up(&s->history);
	const struct live_options options = {.scrollback = scrollback,
		.version = 1000,
		.callbacks = &callbacks,
		.user = &s->recorded};
	cr_assert_eq(live_init(&s->live, &s->history, &options), 0);
}

static void stop(struct server *s)
{
	live_finish(&s->live);
	history_finish(&s->history);
	*s = (struct server){0};
}

/* The next server finds the session. */
static void adopt(void)
{
	stop(&other);
	start(&other, true, &f.control, SCROLLBACK);
}

/* The checkpoint's bytes are valid until the next call. */
static bool find_checkpoint(const struct control *of, struct checkpoint *ret_checkpoint)
{
	static void *bytes;
	free(bytes);
	bytes = NULL;
	return checkpoint_find(of, ret_checkpoint, &bytes);
}

/* recorded gets its replies and events; may be NULL. */
static struct screen *make_screen_for(unsigned rows, unsigned cols, struct recorded *recorded)
{
	struct screen *s;
	cr_assert_eq(screen_create(&s,
			     &(struct screen_options){.rows = rows,
				     .cols = cols,
				     .scrollback = SCROLLBACK,
				     .callbacks = recorded ? &callbacks : NULL,
				     .user = recorded}),
		0);
	return s;
}

static struct screen *make_screen(unsigned rows, unsigned cols)
{
	return make_screen_for(rows, cols, NULL);
}

static void make(size_t control_size)
{
	f = (struct fixture){0};
	memory_ring_make(&f.ring, RING_SIZE_MIN);
	cr_assert_eq(control_create(&f.control, control_size, &f.fd), 0);
	start(&f.s, false, &f.control, SCROLLBACK);
	expected = make_screen(24, 80);
}

static void set_up(void)
{
	make(CONTROL_SIZE);
}

static void tear_down(void)
{
	stop(&f.s);
	stop(&other);
	screen_destroy(expected);
	control_close(&f.control);
	close(f.fd);
	ring_close(&f.ring);
}

TestSuite(live_follow, .init = set_up, .fini = tear_down);
TestSuite(live_mute, .init = set_up, .fini = tear_down);
TestSuite(live_tail, .init = set_up, .fini = tear_down);
TestSuite(live_restore, .init = set_up, .fini = tear_down);
TestSuite(live_correct_size, .init = set_up, .fini = tear_down);

static void consume(struct server *s)
{
	while (history_consume(&s->history, 1 << 20, false))
		;
}

/* The program prints, and the server consumes the output. */
static struct screen *print(const char *text)
{
	memory_ring_say(&f.ring, text);
	consume(&f.s);
	return live_screen(&f.s.live);
}

/* Report the tail to the holder, after checking it. */
static uint64_t report_tail(void)
{
	struct live *l = &f.s.live;
	uint64_t tail = live_tail(l, true);
	cr_assert_leq(tail, history_consumed(&f.s.history));
	cr_assert_geq(tail, f.tail);
	cr_assert_leq(tail, screen_offset(l->screen));
	cr_assert_leq(tail, l->checkpoint, "the tail is beyond the checkpoint");
	f.tail = tail;
	return tail;
}

/* Print lines of 64 bytes and report the tail after each. Never overwrites bytes that are not consumed. */
static void print_lines(size_t bytes)
{
	static unsigned number;
	char line[80];
	for (size_t done = 0; done < bytes; done += 64) {
		snprintf(line, sizeof line,
			"%07u 123456789 \x1b[3%um123456789 123456789\x1b[m 123456789 123456\r\n",
			number % 10000000, number % 8);
		number++;
		cr_assert_eq(strlen(line), 64);
		cr_assert_leq(stream_head(&f.ring.bytes) + 64, f.tail + RING_SIZE_MIN,
			"the holder would wait for ever");
		print(line);
		report_tail();
	}
}

static void feed(struct screen *s, const char *text)
{
	for (size_t at = 0, length = strlen(text); at < length;)
		at += screen_feed(s, text + at, length - at, SIZE_MAX);
}

/* The screens have the same snapshot, offsets and scrollback. */
static void expect_same(struct screen *a, struct screen *b)
{
	struct snapshot x, y;
	cr_assert(a && b);
	cr_assert_eq(
		screen_rows(a), screen_rows(b), "%u and %u rows", screen_rows(a), screen_rows(b));
	cr_assert_eq(screen_cols(a), screen_cols(b), "%u and %u columns", screen_cols(a),
		screen_cols(b));
	cr_assert_eq(screen_offset(a), screen_offset(b));
	cr_assert_eq(screen_resume_offset(a), screen_resume_offset(b));
	cr_assert_eq(screen_scrollback(a), screen_scrollback(b));
	cr_assert_eq(screen_dropped(a), screen_dropped(b));
	cr_assert_eq(screen_snapshot(a, UINT32_MAX, &x), 0);
	cr_assert_eq(screen_snapshot(b, UINT32_MAX, &y), 0);
	if (x.length != y.length || memcmp(x.bytes, y.bytes, x.length) != 0) {
		size_t at = 0, most = x.length < y.length ? x.length : y.length;
		while (at < most && x.bytes[at] == y.bytes[at])
			at++;
		cr_assert_fail("snapshots differ at %zu of %zu and %zu", at, x.length, y.length);
	}
	free(x.bytes);
	free(y.bytes);
}

static void expect_recorded(struct server *s, const char *replies, const char *events)
{
	cr_expect_str_eq(s->recorded.replies, replies);
	cr_expect_str_eq(s->recorded.events, events);
	s->recorded = (struct recorded){0};
}

Test(live_follow, draws_output)
{
	expect_same(f.s.live.screen, expected);
	feed(expected, "hello \x1b[31mwor");
	expect_same(print("hello \x1b[31mwor"), expected);
	feed(expected, "ld\r\n\x1b]0;title\a\x1b[?2004h\xe4\xbd");
	expect_same(print("ld\r\n\x1b]0;title\a\x1b[?2004h\xe4\xbd"), expected);
	feed(expected, "\xa0");
	expect_same(print("\xa0"), expected);
	stop(&f.s);
	start(&f.s, true, &f.control, SCROLLBACK);
}

Test(live_follow, waits_until_the_history_has_consumed_the_output)
{
	memory_ring_say(&f.ring, "hello");
	cr_assert_not(live_follow(&f.s.live, WORK));
	cr_assert_eq(screen_offset(f.s.live.screen), 0);
	history_consume(&f.s.history, 2, false);
	cr_assert_not(live_follow(&f.s.live, WORK));
	cr_assert_eq(screen_offset(f.s.live.screen), 2);
}

Test(live_follow, resizes_at_the_offset_of_the_event)
{
	memory_ring_say(&f.ring, "one two three\r\n");
	memory_ring_resize(&f.ring, 5, 6);
	memory_ring_resize(&f.ring, 7, 8);
	memory_ring_say(&f.ring, "four five six\r\n\x1b[3");
	memory_ring_resize(&f.ring, 10, 20);
	memory_ring_say(&f.ring, "1mseven");
	memory_ring_resize(&f.ring, 4, 30);
	consume(&f.s);
	feed(expected, "one two three\r\n");
	screen_resize(expected, 5, 6);
	screen_resize(expected, 7, 8);
	feed(expected, "four five six\r\n\x1b[3");
	screen_resize(expected, 10, 20);
	feed(expected, "1mseven");
	screen_resize(expected, 4, 30);
	expect_same(live_screen(&f.s.live), expected);
}

Test(live_follow, resizes_without_output)
{
	memory_ring_resize(&f.ring, 5, 6);
	print("");
	cr_assert_eq(screen_rows(f.s.live.screen), 5);
	cr_assert_eq(screen_cols(f.s.live.screen), 6);
}

Test(live_follow, work_is_bounded)
{
	struct live *l = &f.s.live;
	memory_ring_say(&f.ring, "\x1b[2J\x1b[2J\x1b[2J\x1b[2Jx");
	consume(&f.s);
	cr_assert(live_follow(l, 0));
	cr_assert_eq(screen_offset(l->screen), 0);
	cr_assert(live_follow(l, 1));
	uint64_t one = screen_offset(l->screen);
	cr_assert(one > 0 && one < 17);
	cr_assert(live_follow(l, 1));
	cr_assert(screen_offset(l->screen) > one && screen_offset(l->screen) < 17);
	cr_assert_not(live_follow(l, WORK));
	cr_assert_eq(screen_offset(l->screen), 17);
	cr_assert_not(live_follow(l, 0), "no work is left");
}

Test(live_follow, splits_of_the_work_make_no_difference)
{
	static const size_t works[] = {1, 7, 100, 3000, SIZE_MAX};
	for (unsigned i = 0; i < 300; i++) {
		char text[64];
		snprintf(text, sizeof text, "%u \x1b[%uSsome \x1b[%u;%uHtext\r\n", i, i % 3, i % 30,
			i % 90);
		memory_ring_say(&f.ring, text);
		if (i % 50 == 0)
			memory_ring_resize(&f.ring, 10 + i % 7, 20 + i % 11);
	}
	consume(&f.s);
	live_screen(&f.s.live);
	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		unsigned turns = 1;
		start(&other, false, NULL, SCROLLBACK);
		consume(&other);
		while (live_follow(&other.live, works[i]))
			turns++;
		expect_same(other.live.screen, f.s.live.screen);
		cr_assert((works[i] > 3000) == (turns == 1), "%u turns for %zu", turns, works[i]);
		stop(&other);
	}
}

Test(live_follow, without_a_screen_it_does_nothing)
{
	live_finish(&f.s.live);
	cr_assert_null(print("hello"));
	cr_assert_not(live_follow(&f.s.live, WORK));
	cr_assert_eq(live_tail(&f.s.live, true), 5);
	live_correct_size(&f.s.live, 10, 10);
}

Test(live_mute, new_queries_are_answered_once)
{
	print("a\x1b[6n\x1b]0;title\a");
	expect_recorded(&f.s, "\x1b[1;2R", "15:1:title 15:2:title ");
	live_follow(&f.s.live, WORK);
	print("b\a");
	expect_recorded(&f.s, "", "17:0: ");
}

Test(live_mute, queries_drawn_by_an_earlier_server_are_not_answered)
{
	print("a\x1b[6n\x1b]0;title\a\a");
	adopt();
	cr_assert_eq(other.history.mute_before, 16);
	live_screen(&other.live);
	expect_recorded(&other, "", "");
	cr_assert_str_eq(screen_title(other.live.screen), "title", "the title is set all the same");
	memory_ring_say(&f.ring, "\x1b[5n\a");
	consume(&other);
	live_screen(&other.live);
	expect_recorded(&other, "\x1b[0n", "21:0: ");
}

/* The output was consumed, or not even that, but not drawn when the server died: the program still waits. */
Test(live_mute, unanswered_queries_are_answered_by_the_next_server)
{
	print("\x1b[6n\a");
	expect_recorded(&f.s, "\x1b[1;1R", "5:0: ");
	memory_ring_say(&f.ring, "ab\x1b[6n\a");
	consume(&f.s);
	memory_ring_say(&f.ring, "\x1b[5n");
	adopt();
	live_screen(&other.live);
	expect_recorded(&other, "\x1b[1;3R\x1b[0n", "");
	adopt();
	live_screen(&other.live);
	expect_recorded(&other, "", "");
}

/* Nothing says what has been answered, so all of it counts as answered. */
Test(live_mute, without_a_record_all_earlier_queries_count_as_answered)
{
	print("a");
	memory_ring_say(&f.ring, "\x1b[6n");
	consume(&f.s);
	atomic_store(&f.control.page->answered, 0);
	adopt();
	live_screen(&other.live);
	expect_recorded(&other, "", "");
	memory_ring_say(&f.ring, "\x1b[5n");
	consume(&other);
	live_screen(&other.live);
	expect_recorded(&other, "\x1b[0n", "");
}

/* Consumed together, but the earlier server had drawn only the first half. */
Test(live_mute, mute_ends_at_the_exact_byte)
{
	print("\x1b[6n\x1b[6n\a");
	adopt();
	memory_ring_say(&f.ring, "\a\x1b[5n");
	consume(&other);
	live_screen(&other.live);
	expect_recorded(&other, "\x1b[0n", "10:0: ");
}

/* Its end was missing, so it was not answered. */
Test(live_mute, query_cut_by_the_crash_is_answered)
{
	print("ab\x1b[6");
	adopt();
	live_screen(&other.live);
	memory_ring_say(&f.ring, "n");
	consume(&other);
	live_screen(&other.live);
	expect_recorded(&other, "\x1b[1;3R", "");
}

Test(live_mute, restored_screen_does_not_reply)
{
	print("\x1b]0;title\a\x1b]7;file:///tmp\a\x1b[?1004h\a\x1b[6n");
	print_lines(HALF);
	cr_assert_eq(f.s.live.checkpoints, 1);
	adopt();
	live_screen(&other.live);
	expect_recorded(&other, "", "");
	cr_assert_str_eq(screen_title(other.live.screen), "title");
	cr_assert(screen_modes(other.live.screen)->focus);
}

Test(live_tail, checkpoint_is_written_at_half_the_ring)
{
	struct live *l = &f.s.live;
	print_lines(HALF - 64);
	cr_assert_eq(l->checkpoints, 0);
	cr_assert_eq(f.tail, 0);
	print_lines(64);
	cr_assert_eq(l->checkpoints, 1);
	cr_assert_eq(f.tail, HALF);
	print_lines(HALF - 64);
	cr_assert_eq(l->checkpoints, 1);
	cr_assert_eq(f.tail, HALF);
	print_lines(64);
	cr_assert_eq(l->checkpoints, 2);
	cr_assert_eq(f.tail, 2 * HALF);
	print_lines(10 * HALF);
	cr_assert_eq(l->checkpoints, 12);
	cr_assert_eq(l->checkpoint_failures, 0);
}

Test(live_tail, checkpoint_is_where_the_screen_can_resume)
{
	struct checkpoint c;
	print_lines(HALF - 64);
	print("0123456789 123456789 123456789 123456789 123456789 123456789 1234\x1b[3");
	cr_assert_eq(report_tail(), HALF + 1);
	cr_assert(find_checkpoint(&f.control, &c));
	cr_assert_eq(c.offset, HALF + 1);
	cr_assert(c.rows == 24 && c.cols == 80);
}

Test(live_tail, stays_behind_the_screen)
{
	memory_ring_say(&f.ring, "\x1b[2J\x1b[2J\x1b[2J");
	consume(&f.s);
	live_follow(&f.s.live, 1);
	cr_assert_eq(live_tail(&f.s.live, true), 0);
	stop(&f.s);
	start(&f.s, false, NULL, SCROLLBACK);
	consume(&f.s);
	live_follow(&f.s.live, 1);
	cr_assert_eq(live_tail(&f.s.live, true), screen_offset(f.s.live.screen));
	cr_assert_lt(live_tail(&f.s.live, true), 12);
}

Test(live_tail, without_a_control_page_follows_the_screen)
{
	stop(&f.s);
	start(&f.s, false, NULL, SCROLLBACK);
	print("abc\x1b[3");
	cr_assert_eq(live_tail(&f.s.live, true), 3);
	cr_assert_eq(f.s.live.checkpoints, 0);
}

Test(live_tail, checkpoint_has_as_many_lines_as_fit)
{
	tear_down();
	make(PAGE + 2 * 2 * PAGE);
	print_lines(HALF);
	cr_assert_eq(f.s.live.checkpoints, 1);
	cr_assert_eq(f.s.live.checkpoint_failures, 0);
	adopt();
	cr_assert_eq(screen_offset(other.live.screen), HALF);
	unsigned lines = screen_scrollback(other.live.screen);
	cr_assert(lines > 0 && lines < SCROLLBACK / 2, "%u lines", lines);
	cr_assert_eq(screen_dropped(other.live.screen) + lines,
		screen_dropped(f.s.live.screen) + screen_scrollback(f.s.live.screen));
}

/* Without a checkpoint the screen is lost with the server, but the program must not be blocked. */
Test(live_tail, memfd_without_space_does_not_block_the_program)
{
	tear_down();
	make(PAGE);
	print_lines(5 * HALF);
	cr_assert_eq(f.s.live.checkpoints, 0);
	cr_assert_geq(f.s.live.checkpoint_failures, 5);
	cr_assert_geq(f.tail, 5 * HALF);
}

Test(live_tail, endless_sequence_does_not_block_the_program)
{
	static const char *const begins[] = {"\x1b_", "\x1b]0;", "\x1b[", "\x1bPq"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		tear_down();
		set_up();
		print("before");
		print(begins[i]);
		for (size_t done = 0; done < 4 * RING_SIZE_MIN; done += 64) {
			cr_assert_leq(stream_head(&f.ring.bytes) + 64, f.tail + RING_SIZE_MIN,
				"the program waits for ever in %s", begins[i] + 1);
			print("0000000000000000000000000000000000000000000000000000000000000000");
			report_tail();
		}
		cr_assert_leq(f.s.live.checkpoints, 10, "%llu checkpoints in %s",
			(unsigned long long)f.s.live.checkpoints, begins[i] + 1);
	}
}

Test(live_restore, checkpoint_and_later_output_give_the_same_screen)
{
	print_lines(3 * HALF);
	print("\x1b[5;10H\x1b[1;32mgreen\x1b[?25l\x1b[3;20r\x1b]2;title\a");
	print_lines(HALF / 2);
	cr_assert_eq(f.s.live.checkpoints, 3);
	cr_assert_gt(stream_oldest(&f.ring.bytes), 0);
	adopt();
	cr_assert_eq(screen_offset(other.live.screen), 3 * HALF, "it starts with the checkpoint");
	cr_assert_eq(other.live.checkpoint, 3 * HALF);
	expect_same(live_screen(&other.live), f.s.live.screen);
	cr_assert_gt(screen_version(other.live.screen), 1000);
	cr_assert_eq(live_tail(&other.live, true), f.tail, "the tail is the same");
}

Test(live_restore, unfinished_sequences_and_characters_are_continued)
{
	static const char *const ends[] = {
		"\x1b", "\x1b[3", "\x1b]0;ti", "\x1bP$q", "\x1b_a", "\xe4", "\xe4\xbd"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		tear_down();
		set_up();
		print_lines(HALF - 64);
		print("0123456789 123456789 123456789 123456789 123456789 123456789 123456789");
		print(ends[i]);
		report_tail();
		cr_assert_eq(f.s.live.checkpoints, 1);
		adopt();
		cr_assert_eq(
			screen_offset(other.live.screen), screen_resume_offset(f.s.live.screen));
		expect_same(live_screen(&other.live), f.s.live.screen);
	}
}

Test(live_restore, sizes_after_the_checkpoint_are_applied)
{
	memory_ring_resize(&f.ring, 20, 70);
	print_lines(HALF + 1000);
	memory_ring_resize(&f.ring, 10, 40);
	print_lines(1000);
	memory_ring_resize(&f.ring, 30, 60);
	print("");
	adopt();
	cr_assert_eq(screen_rows(other.live.screen), 20);
	expect_same(live_screen(&other.live), f.s.live.screen);
}

/* Nothing was printed between the checkpoint and the resizes. */
Test(live_restore, sizes_at_the_offset_of_the_checkpoint_are_applied)
{
	memory_ring_resize(&f.ring, 20, 70);
	print_lines(HALF);
	cr_assert_eq(f.s.live.checkpoints, 1);
	memory_ring_resize(&f.ring, 10, 40);
	memory_ring_resize(&f.ring, 30, 60);
	print("");
	cr_assert_eq(screen_rows(f.s.live.screen), 30);
	adopt();
	expect_same(live_screen(&other.live), f.s.live.screen);
	print("more");
	consume(&other);
	expect_same(live_screen(&other.live), f.s.live.screen);
}

Test(live_restore, sizes_just_before_the_checkpoint_are_not_applied_again)
{
	memory_ring_resize(&f.ring, 20, 70);
	print_lines(HALF - 64);
	memory_ring_say(
		&f.ring, "0123456789 123456789 123456789 123456789 123456789 123456789 123\n");
	memory_ring_resize(&f.ring, 3, 10);
	memory_ring_resize(&f.ring, 30, 60);
	print("");
	report_tail();
	cr_assert_eq(f.s.live.checkpoints, 1);
	adopt();
	expect_same(live_screen(&other.live), f.s.live.screen);
}

/* Write this checkpoint: the next server must start with the oldest bytes of the ring. */
static void expect_ignored(const struct checkpoint *c)
{
	cr_assert(checkpoint_write(&f.control, c));
	adopt();
	cr_assert_eq(screen_offset(other.live.screen), other.history.cut_floor);
	cr_assert_geq(screen_offset(other.live.screen), stream_oldest(&f.ring.bytes));
	cr_assert_eq(other.live.checkpoint, other.history.cut_floor);
	cr_assert_eq(screen_rows(other.live.screen), 24);
	cr_assert_eq(screen_cols(other.live.screen), 80);
	cr_assert_eq(screen_offset(live_screen(&other.live)), stream_head(&f.ring.bytes));
	cr_assert_str_neq(screen_title(other.live.screen), "wrong");
}

static struct checkpoint wrong(uint64_t offset, unsigned rows, unsigned cols)
{
	static const char bytes[] = "\x1b]0;wrong\a";
	return (struct checkpoint){.offset = offset,
		.rows = rows,
		.cols = cols,
		.bytes = bytes,
		.length = sizeof bytes - 1};
}

Test(live_restore, checkpoint_that_has_left_the_ring_is_ignored)
{
	print_lines(5 * HALF);
	struct checkpoint c = wrong(stream_oldest(&f.ring.bytes) - 1, 10, 10);
	expect_ignored(&c);
	c = wrong(0, 10, 10);
	expect_ignored(&c);
}

Test(live_restore, checkpoint_beyond_the_ring_is_ignored)
{
	print_lines(HALF / 2);
	struct checkpoint c = wrong(stream_head(&f.ring.bytes) + 1, 10, 10);
	expect_ignored(&c);
	c = wrong(UINT64_MAX, 10, 10);
	expect_ignored(&c);
}

Test(live_restore, checkpoint_of_an_impossible_size_is_ignored)
{
	print_lines(HALF / 2);
	static const unsigned sides[][2] = {{0, 80}, {24, 0}, {SCREEN_SIDE_MAX + 1, 80},
		{24, SCREEN_SIDE_MAX + 1}, {UINT32_MAX, UINT32_MAX}};
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		struct checkpoint c = wrong(64, sides[i][0], sides[i][1]);
		expect_ignored(&c);
	}
}

Test(live_restore, checkpoint_of_garbage_is_harmless)
{
	static char bytes[100000];
	struct random r = {42};
	print_lines(HALF);
	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (char)random_next(&r);
		cr_assert(checkpoint_write(&f.control,
			&(struct checkpoint){.offset = 64,
				.rows = 24,
				.cols = 80,
				.bytes = bytes,
				.length = sizeof bytes}));
		adopt();
		cr_assert_eq(screen_offset(live_screen(&other.live)), stream_head(&f.ring.bytes));
		expect_recorded(&other, "", "");
	}
}

Test(live_restore, torn_checkpoint_falls_back_to_the_previous_one)
{
	struct checkpoint c;
	print_lines(2 * HALF + HALF / 2);
	cr_assert_eq(f.s.live.checkpoints, 2);
	cr_assert(find_checkpoint(&f.control, &c));
	char *there = memmem(f.control.page, f.control.size, c.bytes, c.length);
	cr_assert_not_null(there);
	*there ^= 1;
	adopt();
	cr_assert_eq(other.live.checkpoint, HALF, "the ring still has all bytes after it");
	expect_same(live_screen(&other.live), f.s.live.screen);
}

Test(live_restore, without_a_checkpoint_starts_with_the_ring)
{
	print_lines(HALF / 2);
	adopt();
	cr_assert_eq(screen_offset(other.live.screen), 0);
	expect_same(live_screen(&other.live), f.s.live.screen);
}

/* The earlier server allowed the holder to overwrite this, and left no checkpoint. */
Test(live_restore, output_overwritten_meanwhile_is_skipped)
{
	tear_down();
	make(PAGE);
	print_lines(2 * HALF);
	adopt();
	uint64_t version = screen_version(other.live.screen);
	cr_assert_eq(screen_offset(other.live.screen), 0);
	for (size_t done = 0; done < HALF; done += 8)
		memory_ring_say(&f.ring, "newer\x1b[m");
	print("\r\nlast");
	consume(&other);
	expect_recorded(&other, "", "");
	cr_assert_not_null(live_screen(&other.live));
	cr_assert_eq(other.live.restarts, 1);
	cr_assert_geq(other.live.checkpoint, stream_oldest(&f.ring.bytes));
	cr_assert_gt(screen_version(other.live.screen), version);
	cr_assert_eq(screen_offset(other.live.screen), stream_head(&f.ring.bytes));
	cr_assert_eq(live_tail(&other.live, true), other.live.checkpoint);
	unsigned row, col;
	screen_cursor(other.live.screen, &row, &col);
	cr_assert(row == 23 && col == 4);
}

/* Fill the event log until it has lost the resizes. */
static void lose_events(void)
{
	static const uint8_t record[EVENT_PAYLOAD_MAX];
	for (size_t done = 0; done < 2 * RING_EVENTS_SIZE; done += sizeof record) {
		memory_ring_event(&f.ring, EVENT_FIFO, record, sizeof record);
		history_consume(&f.s.history, 0, false);
	}
}

Test(live_correct_size, sets_the_size_when_events_were_lost)
{
	print("hello");
	lose_events();
	live_correct_size(&f.s.live, 30, 100);
	cr_assert_eq(screen_rows(f.s.live.screen), 30);
	cr_assert_eq(screen_cols(f.s.live.screen), 100);
}

Test(live_correct_size, otherwise_events_give_the_size)
{
	print("hello");
	live_correct_size(&f.s.live, 30, 100);
	cr_assert_eq(screen_rows(f.s.live.screen), 24);
	cr_assert_eq(screen_cols(f.s.live.screen), 80);
}

/* Output of a random kind, whole or not. */
static const char *some_output(struct random *r)
{
	static const char *const parts[] = {"some text ", "0123456789 123456789 123456789 ", "\r\n",
		"\r\n", "\r\n", "\x1b[99B\r\none\r\ntwo\r\nthree\r\n\r\n", "\n", "\t", "\b",
		"\xe2\x80\x99", "\xc3\xa9", "e\xcc\x81", "\x1b[1;31m", "\x1b[48;5;22m",
		"\x1b[38;2;1;2;3m", "\x1b[3;7m", "\x1b[m", "\x1b[H", "\x1b[10;20H", "\x1b[A",
		"\x1b[5C", "\x1b[K", "\x1b[1J", "\x1b[2J", "\x1b[L", "\x1b[M", "\x1b[3@", "\x1b[2P",
		"\x1b[5;15r", "\x1b[r", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?6h", "\x1b[?6l",
		"\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b(0", "\x1b(B", "\x1bH",
		"\x1b[3g", "\x1b]0;a title\a", "\x1b]2;another\x1b\\", "\x1b[22;2t", "\x1b[23;2t",
		"\x1b[?2004h", "\x1b[?1000h", "\x1b[?1006h", "\x1b[6n", "\x1b]11;?\a",
		"\x1b]4;1;rgb:11/22/33\a", "\x1b[!p", "\x1bM", "\x1b[5 q", "\x05"};
	return parts[random_below(r, sizeof parts / sizeof *parts)];
}

/* All queries since the last check were answered, by this server or an earlier one. */
static void expect_answers(struct server *s, struct recorded *answers)
{
	cr_assert_str_eq(s->recorded.replies, answers->replies);
	answers->replies[0] = answers->events[0] = s->recorded.replies[0] = '\0';
}

/* A server dies after any byte, again and again, and the next one continues without a difference. */
Test(live_model, random_output_sizes_and_restarts, .timeout = 100)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct random r = {seed * 7919};
		uint64_t restarts = 0, with_checkpoint = 0;
		struct recorded answers = {0};
		struct screen *want = make_screen_for(24, 80, &answers);
		set_up();
		for (unsigned step = 0; step < 12000; step++) {
			const char *part = some_output(&r);
			size_t length = strlen(part);
			if (random_below(&r, 400) == 0 && !screen_is_alternate(want)) {
				unsigned rows = 2 + random_below(&r, 40),
					 cols = 10 + random_below(&r, 90);
				memory_ring_resize(&f.ring, rows, cols);
				screen_resize(want, rows, cols);
			}
			/* In two pieces, so that it stops anywhere. */
			for (size_t at = 0; at < length;) {
				size_t n = 1 + random_below(&r, length - at);
				memory_ring_put(&f.ring, part + at, n);
				for (size_t fed = 0; fed < n;)
					fed += screen_feed(want, part + at + fed, n - fed, SIZE_MAX);
				at += n;
				if (random_below(&r, 30) == 0) {
					consume(&f.s);
					live_screen(&f.s.live);
					expect_answers(&f.s, &answers);
					f.s.recorded = (struct recorded){0};
					report_tail();
				}
				if (random_below(&r, 800) == 0) {
					stop(&f.s);
					start(&f.s, true, &f.control, SCROLLBACK);
					restarts++;
					with_checkpoint += f.s.live.checkpoint > 0;
					expect_same(live_screen(&f.s.live), want);
					expect_answers(&f.s, &answers);
					cr_expect_str_eq(f.s.recorded.events, "");
				}
			}
		}
		consume(&f.s);
		expect_same(live_screen(&f.s.live), want);
		cr_assert_gt(restarts, 10);
		cr_assert_gt(with_checkpoint, 5);
		screen_destroy(want);
		tear_down();
	}
}

/* On a worker: live_work() may run on any thread, so nothing else is called in between. */

static void work_on_worker(struct live *l)
{
	cr_assert(l->lent);
	live_work(l);
	live_take_back(l);
	cr_assert_not(l->lent);
}

TestSuite(live_lent, .init = set_up, .fini = tear_down);

Test(live_lent, draws_output)
{
	memory_ring_say(&f.ring, "one\r\n\033]0;title\atwo\a");
	feed(expected, "one\r\n\033]0;title\atwo\a");
	consume(&f.s);
	cr_assert_eq(live_backlog(&f.s.live), 19);
	cr_assert(live_start_work(&f.s.live));
	cr_assert_eq(live_backlog(&f.s.live), 0, "a worker draws it");
	live_work(&f.s.live);
	expect_recorded(&f.s, "", "");
	live_take_back(&f.s.live);
	expect_recorded(&f.s, "", "15:1:title 15:2:title 19:0: ");
	expect_same(live_screen(&f.s.live), expected);
	cr_assert_not(live_start_work(&f.s.live), "no work is left");
}

Test(live_lent, stops_at_the_next_query)
{
	memory_ring_say(&f.ring, "one\033[6ntwo\033[6n");
	consume(&f.s);
	cr_assert(live_has_query(&f.s.live, 7));
	cr_assert_not(live_has_query(&f.s.live, 6));
	cr_assert(live_start_work(&f.s.live));
	work_on_worker(&f.s.live);
	expect_recorded(&f.s, "\033[1;4R", "");
	cr_assert_eq(screen_offset(f.s.live.screen), 7);
	cr_assert(live_start_work(&f.s.live));
	work_on_worker(&f.s.live);
	expect_recorded(&f.s, "\033[1;7R", "");
	cr_assert_not(live_has_query(&f.s.live, 100));
}

Test(live_lent, stops_at_the_next_size)
{
	memory_ring_say(&f.ring, "before");
	memory_ring_resize(&f.ring, 10, 20);
	memory_ring_say(&f.ring, "behind");
	consume(&f.s);
	feed(expected, "before");
	screen_resize(expected, 10, 20);
	feed(expected, "behind");
	cr_assert(live_start_work(&f.s.live));
	work_on_worker(&f.s.live);
	cr_assert_eq(screen_offset(f.s.live.screen), 6);
	cr_assert(live_start_work(&f.s.live));
	work_on_worker(&f.s.live);
	expect_same(f.s.live.screen, expected);
}

Test(live_lent, stops_soon_after_a_recall)
{
	memory_ring_say(&f.ring, "some text");
	consume(&f.s);
	cr_assert(live_start_work(&f.s.live));
	live_recall(&f.s.live);
	work_on_worker(&f.s.live);
	cr_assert_eq(screen_offset(f.s.live.screen), 0);
	cr_assert_eq(screen_offset(live_screen(&f.s.live)), 9);
}

Test(live_lent, works_only_on_output_from_before_its_start)
{
	memory_ring_say(&f.ring, "first");
	consume(&f.s);
	cr_assert(live_start_work(&f.s.live));
	memory_ring_say(&f.ring, "second");
	consume(&f.s);
	cr_assert_eq(live_backlog(&f.s.live), 6);
	work_on_worker(&f.s.live);
	cr_assert_eq(screen_offset(f.s.live.screen), 5);
	cr_assert_eq(live_backlog(&f.s.live), 6);
}

/* Print a number of bytes, which the screen draws on a worker. */
static void print_on_worker(size_t bytes)
{
	struct live *l = &f.s.live;
	static char line[65];
	memset(line, 'x', 64);
	memcpy(line + 62, "\r\n", 2);
	for (size_t done = 0; done < bytes; done += 64) {
		memory_ring_say(&f.ring, line);
		consume(&f.s);
	}
	uint64_t tail = live_tail(l, false);
	cr_assert(live_start_work(l));
	cr_assert_eq(live_tail(l, false), tail, "bytes that a worker draws must stay");
	work_on_worker(l);
}

Test(live_lent, checkpoint_is_written_on_the_worker)
{
	struct live *l = &f.s.live;
	print_on_worker(HALF - 64);
	cr_assert_eq(l->checkpoints, 0);
	cr_assert_not(live_needs_checkpoint(l));
	cr_assert_eq(live_tail(l, false), 0);
	print_on_worker(64);
	cr_assert_eq(l->checkpoints, 1);
	cr_assert_eq(live_tail(l, false), HALF);
	adopt();
	cr_assert_eq(other.live.checkpoint, HALF);
	expect_same(live_screen(&other.live), l->screen);
}

Test(live_lent, checkpoint_that_is_due_is_a_job_of_its_own)
{
	struct live *l = &f.s.live;
	for (size_t done = 0; done < HALF; done += 8)
		memory_ring_say(&f.ring, "123456\r\n");
	consume(&f.s);
	live_screen(l);
	cr_assert_eq(live_backlog(l), 0);
	cr_assert(live_needs_checkpoint(l));
	cr_assert_eq(live_tail(l, false), 0);
	cr_assert(live_start_work(l));
	work_on_worker(l);
	cr_assert_eq(l->checkpoints, 1);
	cr_assert_not(live_start_work(l));
	cr_assert_eq(live_tail(l, false), HALF);
}

Test(live_lent, old_lines_are_frozen_if_requested)
{
	start(&other, true, NULL, 5000);
	struct live *l = &other.live;
	for (unsigned i = 0; i < 300; i++) {
		memory_ring_say(&f.ring, "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n");
		consume(&other);
		live_screen(l);
	}
	cr_assert(live_can_freeze(l));
	cr_assert_not(live_start_work(l), "no other work is left");
	l->freeze = true;
	cr_assert(live_start_work(l));
	live_recall(l);
	work_on_worker(l);
	cr_assert(live_can_freeze(l), "the screen was recalled");
	l->freeze = true;
	cr_assert(live_start_work(l));
	size_t before = screen_memory(l->screen);
	uint64_t version = screen_version(l->screen);
	work_on_worker(l);
	cr_assert_not(l->freeze);
	cr_assert_lt(screen_memory(l->screen), before);
	cr_assert_eq(screen_version(l->screen), version, "freezing changes nothing visible");
	cr_assert_not(live_can_freeze(l));
}

Test(live_lent, output_of_an_earlier_server_is_drawn_on_the_loop)
{
	memory_ring_say(&f.ring, "\033[6n");
	start(&other, true, NULL, SCROLLBACK);
	cr_assert_not(live_can_lend(&other.live));
	cr_assert_not(live_start_work(&other.live));
	live_screen(&other.live);
	cr_assert(live_can_lend(&other.live));
	expect_recorded(&other, "", "");
}

Test(live_lent, splits_make_no_difference)
{
	struct random r = {.state = 77};
	struct live *l = &f.s.live;
	for (unsigned i = 0; i < 2000; i++) {
		char text[64];
		snprintf(text, sizeof text, "\033[%um%u\033[%u;%uH%s",
			(unsigned)random_below(&r, 50), i, (unsigned)random_below(&r, 30),
			(unsigned)random_below(&r, 90), random_below(&r, 9) ? "" : "\r\n\033[L");
		memory_ring_say(&f.ring, text);
		feed(expected, text);
		consume(&f.s);
		if (random_below(&r, 3) == 0 && live_start_work(l))
			work_on_worker(l);
		if (random_below(&r, 9) == 0)
			live_follow(l, 100);
		f.tail = live_tail(l, false);
	}
	expect_same(live_screen(l), expected);
}
