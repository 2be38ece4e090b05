#include "ring/history.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CAP ((size_t)16 << 10) /* more than SCAN_STRING_MAX */

struct fixture {
	struct ring ring;
	struct control_page page;
	struct control control;
	struct history history;
	struct history_cursor cursor;
	char text[CAP + 1]; /* bytes of the last read, with '.' for NUL */
};

static struct fixture f;
static struct history next_server; /* of the same session */

static void set_up(void)
{
	memory_ring_make(&f.ring, RING_SIZE_MIN);
	f.page = (struct control_page){.size = 4096};
	f.control = (struct control){&f.page, sizeof f.page};
	cr_assert_eq(history_init(&f.history, &f.ring, &f.control), 0);
}

static void tear_down(void)
{
	history_finish(&f.history);
	history_finish(&next_server);
	ring_close(&f.ring);
}

TestSuite(history_read, .init = set_up, .fini = tear_down);
TestSuite(history_seek, .init = set_up, .fini = tear_down);
TestSuite(history_sizes, .init = set_up, .fini = tear_down);
TestSuite(history_queries, .init = set_up, .fini = tear_down);
TestSuite(history_secret, .init = set_up, .fini = tear_down);
TestSuite(history_gap, .init = set_up, .fini = tear_down);
TestSuite(history_end, .init = set_up, .fini = tear_down);
TestSuite(history_consume, .init = set_up, .fini = tear_down);
TestSuite(history_catch_up, .init = set_up, .fini = tear_down, .timeout = 30);
TestSuite(history_model, .init = set_up, .fini = tear_down, .timeout = 60);

/* The program prints, and the server consumes the output. */
static void print(const char *text)
{
	memory_ring_say(&f.ring, text);
	while (history_consume(&f.history, 1 << 20, false))
		;
}

static void print_lines(size_t bytes)
{
	static const char line[] =
		"0123456789 123456789 123456789 123456789 123456789 123456789 12\r\n";
	for (size_t done = 0; done < bytes; done += sizeof line - 1)
		print(line);
}

static struct history_read next_for(struct history_cursor *c, size_t cap)
{
	struct history_read r = history_read(&f.history, c, f.text, cap);
	f.text[r.length] = '\0';
	for (size_t i = 0; i < r.length; i++)
		if (!f.text[i])
			f.text[i] = '.';
	return r;
}

static enum history_item next(void)
{
	return next_for(&f.cursor, CAP).item;
}

#define EXPECT_BYTES(want)                           \
	do {                                         \
		cr_assert_eq(next(), HISTORY_BYTES); \
		cr_assert_str_eq(f.text, want);      \
	} while (0)

Test(history_read, fresh_reader_gets_everything_once)
{
	print("hello");
	cr_assert_eq(history_seek(&f.history, &f.cursor, false, 0), 0);
	EXPECT_BYTES("hello");
	cr_assert_eq(next(), HISTORY_NOTHING);
	print(" world");
	EXPECT_BYTES(" world");
	cr_assert_eq(next(), HISTORY_NOTHING);
	cr_assert_eq(f.cursor.offset, 11);
}

Test(history_read, bytes_wait_until_they_are_consumed)
{
	memory_ring_say(&f.ring, "hello");
	history_seek(&f.history, &f.cursor, false, 0);
	cr_assert_eq(next(), HISTORY_NOTHING);
}

Test(history_read, unfinished_character_and_query_are_held_back)
{
	history_seek(&f.history, &f.cursor, false, 0);
	print("ab\xe2\x82");
	EXPECT_BYTES("ab");
	cr_assert_eq(next(), HISTORY_NOTHING);
	print("\xac\x1b[6");
	EXPECT_BYTES("\xe2\x82\xac");
	cr_assert_eq(next(), HISTORY_NOTHING);
	print("m");
	EXPECT_BYTES("\x1b[6m");
}

Test(history_read, returns_at_most_cap_bytes)
{
	struct history_read r;
	print_lines(30000);
	history_seek(&f.history, &f.cursor, false, 0);
	r = next_for(&f.cursor, SCAN_STRING_MAX + 1);
	cr_assert_eq(r.length, SCAN_STRING_MAX + 1);
	cr_assert_eq(f.cursor.offset, SCAN_STRING_MAX + 1);
}

/* Text of ASCII, then the character again and again; each read but the last is cut by its cap. */
static void expect_whole_characters(const char *character, size_t ascii)
{
	const size_t size = strlen(character), cap = SCAN_STRING_MAX + 1;
	uint64_t from = stream_head(&f.ring.bytes), end = from + ascii + 3 * cap / size * size;
	for (uint64_t at = from; at < end; at += at < from + ascii ? 1 : size)
		memory_ring_say(&f.ring, at < from + ascii ? "x" : character);
	while (history_consume(&f.history, 1 << 20, false))
		;
	history_seek(&f.history, &f.cursor, true, from);
	while (f.cursor.offset < end) {
		struct history_read r = next_for(&f.cursor, cap);
		cr_assert_eq(r.item, HISTORY_BYTES);
		cr_assert_eq((f.cursor.offset - from - ascii) % size, 0,
			"%zu bytes of %s, cut at %llu", ascii, character,
			(unsigned long long)f.cursor.offset);
		cr_assert(f.cursor.offset == end || r.length > cap - size);
	}
}

Test(history_read, cap_does_not_split_a_character)
{
	const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x80\x99", "\xf0\x9f\x98\x80"};
	for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
		for (size_t ascii = 0; ascii < 4; ascii++)
			expect_whole_characters(characters[i], ascii);
}

Test(history_read, invalid_utf8_is_cut_by_cap)
{
	/* Stray continuation bytes, more of them than a character has, and bytes that no decoder accepts. */
	const char *const ends[] = {
		"\x80\x80\x80", "\xc3\xa9\x80", "\xe2\x82\xac\x80", "\xf8\xff\xf8"};
	const size_t cap = SCAN_STRING_MAX + 1;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		uint64_t from = stream_head(&f.ring.bytes);
		for (size_t n = cap - strlen(ends[i]); n > 0; n--)
			memory_ring_say(&f.ring, "x");
		print(ends[i]);
		print("more");
		history_seek(&f.history, &f.cursor, true, from);
		cr_assert_eq(next_for(&f.cursor, cap).length, cap);
		EXPECT_BYTES("more");
	}
}

Test(history_seek, resume_is_exact)
{
	print("hello world");
	cr_assert_eq(history_seek(&f.history, &f.cursor, true, 6), 0);
	EXPECT_BYTES("world");
}

Test(history_seek, resume_at_the_end_waits_for_more)
{
	print("hello");
	cr_assert_eq(history_seek(&f.history, &f.cursor, true, 5), 0);
	cr_assert_eq(next(), HISTORY_NOTHING);
	print("x");
	EXPECT_BYTES("x");
}

Test(history_seek, resume_within_a_sequence_is_exact)
{
	print("ab\x1b[31mred");
	cr_assert_eq(history_seek(&f.history, &f.cursor, true, 4), 0);
	EXPECT_BYTES("31mred");
}

Test(history_seek, resume_beyond_the_end_starts_over)
{
	print("hello");
	cr_assert_eq(history_seek(&f.history, &f.cursor, true, 6), 0);
	cr_assert_eq(f.cursor.offset, 0);
	EXPECT_BYTES("hello");
}

Test(history_seek, resume_in_a_held_back_sequence_continues_there)
{
	print("ab\x1b[6");
	cr_assert_eq(history_seek(&f.history, &f.cursor, true, 4), 0);
	cr_assert_eq(next(), HISTORY_NOTHING);
	print("n");
	EXPECT_BYTES("..");
}

Test(history_seek, resume_before_the_oldest_byte_reports_what_is_lost)
{
	print_lines(2 * RING_SIZE_MIN);
	uint64_t lost = history_seek(&f.history, &f.cursor, true, 10);
	cr_assert_eq(lost, f.cursor.offset - 10);
	cr_assert_geq(f.cursor.offset, history_oldest(&f.history));
	cr_assert_eq(next(), HISTORY_BYTES);
}

Test(history_seek, oldest_offset_is_between_two_sequences, .timeout = 30)
{
	/* One coloured run after another: a cut anywhere else would show parts of a sequence. */
	for (int i = 0; i < 40000; i++)
		print("\x1b[38;5;196mx\x1b[0m");
	cr_assert_gt(history_oldest(&f.history), 0);
	history_seek(&f.history, &f.cursor, false, 0);
	cr_assert_lt(f.cursor.offset - history_oldest(&f.history), RING_SIZE_MIN / 64,
		"far from the oldest byte");
	cr_assert_eq(next(), HISTORY_BYTES);
	cr_assert(f.text[0] == '\x1b' || f.text[0] == 'x', "begins with %.20s", f.text + 1);
	if (f.text[0] == '\x1b')
		cr_assert_eq(f.text[1], '[');
}

Test(history_sizes, reader_gets_later_sizes_at_their_offsets)
{
	print("one");
	memory_ring_resize(&f.ring, 30, 100);
	print("two");
	memory_ring_resize(&f.ring, 31, 101);
	memory_ring_resize(&f.ring, 32, 102);
	print("three");
	history_seek(&f.history, &f.cursor, false, 0);
	struct history_size at = history_size_at(&f.history, &f.cursor);
	cr_assert(at.rows == 24 && at.cols == 80);
	EXPECT_BYTES("one");
	struct history_read r = next_for(&f.cursor, CAP);
	cr_assert(r.item == HISTORY_SIZE && r.size.rows == 30 && r.size.cols == 100 &&
		r.size.offset == 3);
	EXPECT_BYTES("two");
	r = next_for(&f.cursor, CAP);
	cr_assert(r.item == HISTORY_SIZE && r.size.rows == 31);
	r = next_for(&f.cursor, CAP);
	cr_assert(r.item == HISTORY_SIZE && r.size.rows == 32 && r.size.cols == 102);
	at = history_size_at(&f.history, &f.cursor);
	cr_assert(at.rows == 32 && at.cols == 102);
	EXPECT_BYTES("three");
	cr_assert_eq(next(), HISTORY_NOTHING);
}

Test(history_sizes, resumed_reader_has_the_size_of_its_offset)
{
	print("one");
	memory_ring_resize(&f.ring, 30, 100);
	print("two");
	memory_ring_resize(&f.ring, 31, 101);
	print("three");
	history_seek(&f.history, &f.cursor, true, 4);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 30);
	EXPECT_BYTES("wo");
	struct history_read r = next_for(&f.cursor, CAP);
	cr_assert(r.item == HISTORY_SIZE && r.size.rows == 31);
	history_seek(&f.history, &f.cursor, true, 3);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 30, "from its offset on");
	history_seek(&f.history, &f.cursor, true, 2);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 24);
}

Test(history_sizes, sizes_are_numbered_in_order)
{
	print("one");
	memory_ring_resize(&f.ring, 30, 100);
	memory_ring_resize(&f.ring, 31, 101);
	print("two");
	cr_assert_eq(f.history.sizes_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct history_size size = history_nth_size(&f.history, i);
		cr_expect_eq(size.offset, i == 0 ? 0 : 3);
		cr_expect_eq(size.rows, i == 0 ? 24 : 29 + i);
	}
}

Test(history_sizes, placed_reader_has_the_size_of_any_offset)
{
	print("one");
	memory_ring_resize(&f.ring, 30, 100);
	print_lines(2 * RING_SIZE_MIN);
	memory_ring_resize(&f.ring, 31, 101);
	print("");
	history_place(&f.history, &f.cursor, 2);
	cr_assert_eq(f.cursor.offset, 2);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 24);
	history_place(&f.history, &f.cursor, 3);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 30);
	history_place(&f.history, &f.cursor, stream_head(&f.ring.bytes));
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 31);
}

Test(history_sizes, size_after_the_last_byte_is_reported)
{
	print("one");
	memory_ring_resize(&f.ring, 30, 100);
	print("");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("one");
	cr_assert_eq(next(), HISTORY_SIZE);
	cr_assert_eq(next(), HISTORY_NOTHING);
}

Test(history_sizes, other_events_are_ignored)
{
	memory_ring_event(&f.ring, EVENT_FIFO, "x", 1);
	memory_ring_event(&f.ring, EVENT_SOURCE, &(uint32_t){1}, 4);
	memory_ring_event(&f.ring, (enum event_type)99, "?", 1);
	memory_ring_event(&f.ring, EVENT_RESIZE, "x", 1);
	print("one");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("one");
	cr_assert_eq(next(), HISTORY_NOTHING);
	cr_assert_eq(f.history.events_lost, 0);
}

Test(history_sizes, more_sizes_than_are_kept)
{
	for (unsigned i = 0; i < HISTORY_RESIZES + 100; i++) {
		print("x");
		memory_ring_resize(&f.ring, 1 + i % 900, 80);
	}
	print("y");
	history_seek(&f.history, &f.cursor, false, 0);
	struct history_read r;
	uint64_t bytes = 0, sizes = 0;
	while ((r = next_for(&f.cursor, CAP)).item != HISTORY_NOTHING) {
		bytes += r.length;
		if (r.item == HISTORY_SIZE) {
			sizes++;
			cr_assert_leq(r.size.offset, f.cursor.offset);
		}
	}
	cr_assert_eq(bytes, HISTORY_RESIZES + 101);
	cr_assert_geq(sizes, HISTORY_RESIZES - 1);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 1 + (HISTORY_RESIZES + 99) % 900);
	/* Number 101 is the oldest that is kept, and has the rows of i = 100. */
	cr_assert_eq(f.history.sizes_count, HISTORY_RESIZES + 101);
	for (unsigned i = 0; i < 103; i++)
		cr_expect_eq(history_nth_size(&f.history, i).rows, i < 102 ? 101 : 102, "%u", i);
}

Test(history_queries, queries_become_nuls)
{
	print("a\x1b[6nb\x1b]11;?\ac\x05"
	      "d");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("a....b.......c.d");
}

Test(history_queries, queries_become_nuls_for_live_and_late_readers)
{
	struct history_cursor first, second, late;
	history_seek(&f.history, &first, false, 0);
	history_seek(&f.history, &second, false, 0);
	print("a\x1b[6nb");
	struct history_cursor *const readers[] = {&first, &second, &late};
	history_seek(&f.history, &late, true, 0);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
		next_for(readers[i], CAP);
		cr_assert_str_eq(f.text, "a....b", "reader %zu", i);
	}
}

Test(history_queries, small_reads_do_not_split_a_query)
{
	char string[SCAN_STRING_MAX + 1] = "\x1b]10;", blank[SCAN_STRING_MAX + 1];
	memset(string + 5, 'x', sizeof string - 8);
	strcpy(string + sizeof string - 3, "?\a");
	cr_assert_eq(strlen(string), SCAN_STRING_MAX);
	memset(blank, '.', SCAN_STRING_MAX);
	blank[SCAN_STRING_MAX] = '\0';
	print("abc");
	print(string);
	history_seek(&f.history, &f.cursor, false, 0);
	cr_assert_eq(next_for(&f.cursor, SCAN_STRING_MAX + 1).length, 3);
	cr_assert_eq(next_for(&f.cursor, SCAN_STRING_MAX + 1).length, SCAN_STRING_MAX);
	cr_assert_str_eq(f.text, blank);
}

/* The query's ESC ends the title. A lone ESC would not, because "c" follows it. */
Test(history_queries, resize_within_a_query_does_not_break_it)
{
	char got[64] = "";
	struct history_read r;
	history_seek(&f.history, &f.cursor, false, 0);
	print("\x1b]0;t\x1b");
	memory_ring_resize(&f.ring, 30, 100);
	print("[6nc");
	while ((r = next_for(&f.cursor, CAP)).item != HISTORY_NOTHING)
		if (r.item == HISTORY_BYTES)
			strcat(got, f.text);
		else
			strcat(got, "<>");
	cr_assert_str_eq(got, "\x1b]0;t<>\x1b\\..c");
}

Test(history_gap, reader_that_fell_behind_is_moved_to_a_safe_offset)
{
	print("first");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("first");
	for (int i = 0; i < 20000; i++)
		print("\x1b[38;5;196mx\x1b[0m");
	struct history_read r = next_for(&f.cursor, CAP);
	cr_assert_eq(r.item, HISTORY_GAP);
	cr_assert_eq(r.skipped, f.cursor.offset - 5);
	cr_assert_geq(f.cursor.offset, history_oldest(&f.history));
	cr_assert(r.size.rows == 24 && r.size.cols == 80);
	cr_assert_eq(next(), HISTORY_BYTES);
	cr_assert(f.text[0] == 'x' || (f.text[0] == '\x1b' && f.text[1] == '['));
}

Test(history_gap, has_the_size_of_the_new_offset)
{
	history_seek(&f.history, &f.cursor, false, 0);
	print("first");
	memory_ring_resize(&f.ring, 30, 100);
	print_lines(RING_SIZE_MIN + 1000);
	memory_ring_resize(&f.ring, 31, 101);
	print("last");
	struct history_read r = next_for(&f.cursor, CAP);
	cr_assert_eq(r.item, HISTORY_GAP);
	cr_assert_eq(r.size.rows, 30);
	unsigned sizes = 0;
	while ((r = next_for(&f.cursor, CAP)).item != HISTORY_NOTHING)
		sizes += r.item == HISTORY_SIZE;
	cr_assert_eq(sizes, 1);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 31);
}

Test(history_gap, output_whose_queries_were_forgotten_is_not_shown)
{
	history_seek(&f.history, &f.cursor, false, 0);
	print("ab");
	for (unsigned i = 0; i < 70; i++) {
		char enq[1001];
		memset(enq, 5, 1000);
		enq[1000] = '\0';
		print(enq);
	}
	/* A ring of 65536 bytes cannot have 70000 queries; only with fewer than ring bytes some are forgotten. */
	cr_assert_leq(f.history.queries.count, QUERIES_MAX);
	cr_assert_eq(next(), HISTORY_GAP);
	while (next() == HISTORY_BYTES)
		cr_assert_null(strchr(f.text, 5));
}

Test(history_end, comes_once_after_the_last_byte)
{
	print("bye");
	memory_ring_exit(&f.ring, 0);
	print("");
	cr_assert(f.history.ended);
	cr_assert_eq(f.history.end_offset, 3);
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("bye");
	cr_assert_eq(next(), HISTORY_END);
	cr_assert_eq(next(), HISTORY_NOTHING);
}

Test(history_end, bytes_that_were_held_back_come_before_it)
{
	print("a\x1b[6");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("a");
	cr_assert_eq(next(), HISTORY_NOTHING);
	memory_ring_exit(&f.ring, 0);
	print("");
	EXPECT_BYTES("\x1b[6");
	cr_assert_eq(next(), HISTORY_END);
}

Test(history_end, lost_holder_ends_the_history)
{
	print("a");
	history_seek(&f.history, &f.cursor, false, 0);
	memory_ring_say(&f.ring, "b");
	while (history_consume(&f.history, 1000, true))
		;
	EXPECT_BYTES("ab");
	cr_assert_eq(next(), HISTORY_END);
}

Test(history_end, comes_only_when_all_is_consumed)
{
	print_lines(RING_SIZE_MIN / 2);
	memory_ring_say(&f.ring, "more");
	memory_ring_exit(&f.ring, 0);
	cr_assert_not(f.history.ended);
	history_consume(&f.history, 1, false);
	cr_assert_not(f.history.ended);
	history_consume(&f.history, 100, false);
	cr_assert(f.history.ended);
}

Test(history_end, size_after_the_last_byte_comes_before_it)
{
	print("bye");
	memory_ring_resize(&f.ring, 30, 100);
	memory_ring_exit(&f.ring, 0);
	print("");
	history_seek(&f.history, &f.cursor, false, 0);
	EXPECT_BYTES("bye");
	cr_assert_eq(next(), HISTORY_SIZE);
	cr_assert_eq(next(), HISTORY_END);
}

Test(history_consume, consumes_at_most_its_budget)
{
	memory_ring_say(&f.ring, "hello world");
	cr_assert(history_consume(&f.history, 4, false));
	cr_assert_eq(history_limit(&f.history), 4);
	cr_assert_not(history_consume(&f.history, 7, false));
	cr_assert_eq(history_limit(&f.history), 11);
}

/* The writer was allowed to continue, so what it has overwritten since cannot be claimed back. */
Test(history_consume, consumed_offset_never_decreases)
{
	static const char *const ends[] = {"\x1b_", "\x1b", "[", "6n", "\x1b_", "\xc2", "\x9b",
		"6n", "\x1b_", "\xe2\x82", "\xac", "x"};
	uint64_t consumed = 0;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		print(ends[i]);
		cr_assert_geq(history_consumed(&f.history), consumed, "after %zu", i);
		consumed = history_consumed(&f.history);
		if (ends[i][strlen(ends[i]) - 1] == '_')
			print_lines(RING_SIZE_MIN / 3);
	}
	cr_assert_eq(consumed, f.history.scan.offset);
}

Test(history_consume, damaged_events_are_counted_and_skipped)
{
	struct event_header bad = {.type = EVENT_RESIZE, .length = UINT32_MAX};
	memcpy(stream_reserve(&f.ring.events, sizeof bad), &bad, sizeof bad);
	stream_commit(&f.ring.events, sizeof bad);
	print("a");
	cr_assert_eq(f.history.events_lost, 1);
	memory_ring_resize(&f.ring, 30, 100);
	print("b");
	cr_assert_eq(f.history.events_lost, 1);
	history_seek(&f.history, &f.cursor, true, 2);
	cr_assert_eq(history_size_at(&f.history, &f.cursor).rows, 30);
}

/* A server that finds a running session. */
static void adopt(const struct control *control)
{
	cr_assert_eq(history_init(&next_server, &f.ring, control), 0);
	history_catch_up(&next_server);
}

Test(history_catch_up, sets_mute_before_to_the_head)
{
	print("a\x1b[6nb");
	cr_assert_eq(f.history.mute_before, 0, "a new session mutes nothing");
	adopt(&f.control);
	cr_assert_eq(next_server.mute_before, 6);
	cr_assert_eq(next_server.scan.offset, 6);
	memory_ring_say(&f.ring, "\x1b[5n");
	history_consume(&next_server, 1000, false);
	cr_assert_eq(next_server.mute_before, 6);
}

Test(history_catch_up, queries_stay_blanked)
{
	print("a\x1b[6nb\x1b[5");
	adopt(&f.control);
	history_seek(&next_server, &f.cursor, false, 0);
	memory_ring_say(&f.ring, "n\x1b[5nc");
	history_consume(&next_server, 1000, false);
	struct history_read r = history_read(&next_server, &f.cursor, f.text, CAP);
	cr_assert_eq(r.length, 15);
	cr_assert_arr_eq(f.text, "a\0\0\0\0b\0\0\0\0\0\0\0\0c", 15);
}

/* Secrets of the shell's marks */

#define SECRET "0123456789abcdef0123456789ABCDEF"
#define OTHER "0123456789abcdef0123456789ABCDEE"
#define MARK "\x1b]133;D;7;aid=" SECRET ";id=exec_1\a"
#define HIDDEN ".]133;D;7;aid=********************************;id=exec_1\a"

/* What a reader gets from offset to the end, with ESC as '.'. */
static void expect_from(struct history *h, uint64_t offset, const char *want)
{
	struct history_cursor c;
	history_seek(h, &c, true, offset);
	struct history_read r = history_read(h, &c, f.text, CAP);
	f.text[r.item == HISTORY_BYTES ? r.length : 0] = '\0';
	for (char *p = f.text; (p = strchr(p, '\x1b'));)
		*p = '.';
	cr_assert_str_eq(f.text, want, "from %llu: %s instead of %s", (unsigned long long)offset,
		f.text, want);
}

Test(history_secret, secret_of_a_mark_is_hidden_wherever_the_mark_is_split, .timeout = 30)
{
	static const char text[] = "a" MARK "b", want[] = "a" HIDDEN "b";
	for (size_t cut = 0; cut < sizeof text; cut++) {
		char got[sizeof text] = "";
		tear_down();
		set_up();
		history_set_secret(&f.history, SECRET);
		history_seek(&f.history, &f.cursor, false, 0);
		memory_ring_put(&f.ring, text, cut);
		while (history_consume(&f.history, 1000, false))
			;
		struct history_read r = history_read(&f.history, &f.cursor, got, CAP);
		size_t first = r.item == HISTORY_BYTES ? r.length : 0;
		cr_assert(first <= 1 || first >= sizeof MARK, "cut at %zu: %zu", cut, first);
		memory_ring_put(&f.ring, text + cut, sizeof text - 1 - cut);
		while (history_consume(&f.history, 1000, false))
			;
		r = history_read(&f.history, &f.cursor, f.text, CAP);
		if (r.item == HISTORY_BYTES)
			memcpy(got + first, f.text, r.length);
		for (char *p = got; (p = strchr(p, '\x1b'));)
			*p = '.';
		cr_assert_str_eq(got, want, "cut at %zu: %s", cut, got);
	}
}

Test(history_secret, secret_is_hidden_from_readers_that_resume_anywhere)
{
	static const char want[] = "a" HIDDEN "b" HIDDEN;
	history_set_secret(&f.history, SECRET);
	print("a" MARK "b" MARK);
	for (size_t offset = 0; offset < sizeof want - 1; offset++)
		expect_from(&f.history, offset, want + offset);
}

Test(history_secret, secret_is_hidden_when_bytes_come_one_by_one)
{
	static const char text[] = "a" MARK;
	history_set_secret(&f.history, SECRET);
	for (size_t i = 0; i < sizeof text - 1; i++) {
		memory_ring_put(&f.ring, text + i, 1);
		history_consume(&f.history, 1, false);
	}
	expect_from(&f.history, 0, "a" HIDDEN);
}

Test(history_secret, secret_outside_of_a_mark_is_hidden)
{
	history_set_secret(&f.history, SECRET);
	print("PS1='\\e]133;A;aid=" SECRET "'\r\n" SECRET SECRET);
	expect_from(&f.history, 0,
		"PS1='\\e]133;A;aid=********************************'\r\n"
		"****************************************************************");
}

Test(history_secret, secret_of_an_aborted_mark_is_hidden)
{
	history_set_secret(&f.history, SECRET);
	print("\x1b]133;D;7;aid=" SECRET "\x18z");
	expect_from(&f.history, 0, ".]133;D;7;aid=********************************\x18z");
}

Test(history_secret, marks_of_other_programs_are_unchanged)
{
	history_set_secret(&f.history, SECRET);
	print("\x1b]133;A\a\x1b]133;D;0;aid=" OTHER "\a\x1b]133;C;aid=0123?\a");
	expect_from(&f.history, 0, ".]133;A\a.]133;D;0;aid=" OTHER "\a.]133;C;aid=0123?\a");
}

Test(history_secret, secret_stays_hidden_under_the_next_server)
{
	history_set_secret(&f.history, SECRET);
	print("a" MARK "b\x1b]133;A;ai");
	cr_assert_eq(history_init(&next_server, &f.ring, &f.control), 0);
	history_set_secret(&next_server, SECRET);
	history_catch_up(&next_server);
	expect_from(&next_server, 0, "a" HIDDEN "b");
	memory_ring_say(&f.ring, "d=" SECRET "\a");
	history_consume(&next_server, 1000, false);
	expect_from(&next_server, 20, HIDDEN "b.]133;A;aid=********************************\a" + 19);
}

Test(history_secret, secret_stays_hidden_where_the_ring_begins_within_it, .timeout = 30)
{
	const size_t into = sizeof "\x1b]133;D;7;aid=0123456789" - 1;
	history_set_secret(&f.history, SECRET);
	while (stream_head(&f.ring.bytes) < 2 * RING_SIZE_MIN)
		print("0123456789012345678901234567890123456789012345678901234567890\r\n");
	uint64_t at = stream_head(&f.ring.bytes);
	print(MARK);
	while (stream_oldest(&f.ring.bytes) < at + into)
		print("x");
	cr_assert_eq(stream_oldest(&f.ring.bytes), at + into);
	cr_assert_eq(history_init(&next_server, &f.ring, NULL), 0);
	history_set_secret(&next_server, SECRET);
	history_catch_up(&next_server);
	history_seek(&next_server, &f.cursor, true, at + into);
	cr_assert_eq(history_read(&next_server, &f.cursor, f.text, CAP).item, HISTORY_BYTES);
	cr_assert_arr_eq(f.text, "**********************;id=exec_1\axx", 35);
}

Test(history_secret, secret_is_hidden_in_a_copy_of_the_ring)
{
	char copy[] = MARK;
	history_set_secret(&f.history, SECRET);
	print(MARK);
	history_redact(&f.history, 20, (uint8_t *)copy + 20, sizeof copy - 21);
	cr_assert_str_eq(copy, "\x1b]133;D;7;aid=012345**************************;id=exec_1\a");
}

Test(history_catch_up, wrapped_ring_starts_at_a_ground_state_of_the_last_server)
{
	/* "[31m" is also text: only a server that has read the ESC can decide. */
	for (int i = 0; i < 20000; i++)
		print("\x1b]0;[6n[6n\a\x1b[31mx");
	adopt(&f.control);
	cr_assert_gt(next_server.cut_floor, stream_oldest(&f.ring.bytes));
	history_seek(&next_server, &f.cursor, false, 0);
	cr_assert_geq(f.cursor.offset, next_server.cut_floor);
	cr_assert_lt(f.cursor.offset - stream_oldest(&f.ring.bytes), RING_SIZE_MIN / 4);
	struct history_read r = history_read(&next_server, &f.cursor, f.text, CAP);
	cr_assert_eq(r.item, HISTORY_BYTES);
	cr_assert(memcmp(f.text, "\x1b]0;", 4) == 0 || memcmp(f.text, "\x1b[31mx", 6) == 0 ||
		memcmp(f.text, "x\x1b]0;", 5) == 0);
}

Test(history_catch_up, works_without_a_control_page)
{
	print_lines(2 * RING_SIZE_MIN + 17);
	adopt(NULL);
	history_seek(&next_server, &f.cursor, false, 0);
	cr_assert_eq(history_read(&next_server, &f.cursor, f.text, CAP).item, HISTORY_BYTES);
}

Test(history_catch_up, garbage_in_the_control_page_is_harmless)
{
	print_lines(2 * RING_SIZE_MIN);
	for (unsigned i = 0; i < CONTROL_GROUNDS; i++)
		f.page.ground[i] = i % 2 ? UINT64_MAX - i : i;
	adopt(&f.control);
	uint64_t oldest = history_oldest(&next_server), head = stream_head(&f.ring.bytes);
	history_seek(&next_server, &f.cursor, false, 0);
	cr_assert(f.cursor.offset >= oldest && f.cursor.offset <= head, "at %llu of %llu to %llu",
		(unsigned long long)f.cursor.offset, (unsigned long long)oldest,
		(unsigned long long)head);
}

Test(history_catch_up, current_size_survives_lost_events)
{
	static const uint8_t record[EVENT_PAYLOAD_MAX];
	memory_ring_resize(&f.ring, 30, 100);
	atomic_store(&f.ring.header->geometry, 30u << 16 | 100);
	print("a");
	for (size_t done = 0; done < 2 * RING_EVENTS_SIZE; done += sizeof record) {
		memory_ring_event(&f.ring, EVENT_FIFO, record, sizeof record);
		print("b");
	}
	adopt(&f.control);
	history_seek(&next_server, &f.cursor, true, stream_head(&f.ring.bytes));
	struct history_size at = history_size_at(&next_server, &f.cursor);
	cr_expect(at.rows == 30 && at.cols == 100, "size is %u x %u", at.rows, at.cols);
}

/*
 * Random output, random readers. A reader without a gap gets exactly the output with NULs for its queries; one
 * with a gap continues exactly from its new offset.
 */
static void expect_replay(const uint8_t *all, const uint8_t *blanked, uint64_t from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		cr_assert_eq((uint8_t)f.text[i], blanked[from + i], "offset %llu: %02x of %02x",
			(unsigned long long)(from + i), (uint8_t)f.text[i], all[from + i]);
}

static enum history_item read_some(
	struct history_cursor *c, const uint8_t *all, const uint8_t *blanked, struct random *r)
{
	uint64_t before = c->offset;
	struct history_read got = history_read(
		&f.history, c, f.text, SCAN_STRING_MAX + 1 + random_below(r, 8000));
	if (got.item == HISTORY_BYTES) {
		cr_assert_gt(got.length, 0);
		cr_assert_eq(c->offset, before + got.length);
		expect_replay(all, blanked, before, got.length);
	} else if (got.item == HISTORY_GAP) {
		cr_assert_eq(c->offset, before + got.skipped);
	} else {
		cr_assert_eq(c->offset, before);
	}
	cr_assert_leq(
		c->offset, history_limit(&f.history) > before ? history_limit(&f.history) : before);
	return got.item;
}

Test(history_model, random_output_and_readers)
{
	static const char *const parts[] = {"text ", "\x1b[6n", "\x1b[31m", "\x1b]0;title\a",
		"\x05", "\x1b]11;?\x1b\\", "\r\n", "\xe2\x82\xac", "\x1b[c",
		"0123456789012345678901234567890123"};
	enum { STEPS = 40000 };
	static uint8_t all[STEPS * 40], blanked[STEPS * 40];
	struct random r = {12345};
	struct history_cursor readers[3];
	uint64_t head = 0, gaps = 0;
	for (int i = 0; i < 3; i++)
		history_seek(&f.history, &readers[i], false, 0);
	for (int i = 0; i < STEPS; i++) {
		const char *part = parts[random_below(&r, sizeof parts / sizeof *parts)];
		bool query = strchr(part, 5) || strstr(part, "[6n") || strstr(part, "?") ||
			strstr(part, "[c");
		size_t length = strlen(part);
		memcpy(all + head, part, length);
		memcpy(blanked + head, part, length);
		if (query)
			memset(blanked + head, 0, length);
		head += length;
		memory_ring_put(&f.ring, part, length);
		/* The overrun rule: bytes that are not consumed are never overwritten. */
		if (random_below(&r, 50) == 0 || head - f.history.scan.offset > RING_SIZE_MIN / 2)
			while (history_consume(&f.history, 1 + random_below(&r, 9000), false))
				;
		struct history_cursor *c = &readers[random_below(&r, 3)];
		size_t lazy = (size_t)(c - readers);
		if (random_below(&r, lazy == 2 ? 3000 : 30 * (lazy + 1)) == 0)
			gaps += read_some(c, all, blanked, &r) == HISTORY_GAP;
		if (random_below(&r, 500) == 0)
			history_seek(&f.history, c, true, random_below(&r, head + 1));
	}
	cr_assert_gt(head, 4 * RING_SIZE_MIN);
	cr_assert_gt(gaps, 0);
}
