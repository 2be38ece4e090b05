#include "ring/queries.h"
#include "tests/lib/leak.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <string.h>

static void add(struct queries *q, uint64_t start, uint32_t length, bool muted)
{
	queries_add(q, &(struct scan_query){.start = start, .length = length}, muted);
}

/* Apply to text that begins at offset; what clients get, with '.' for each NUL. */
static size_t apply(
	struct queries *q, uint64_t offset, const char *text, uint64_t live_from, char *ret_text)
{
	size_t length = strlen(text);
	memcpy(ret_text, text, length + 1);
	size_t whole = queries_apply(q, offset, (uint8_t *)ret_text, length, live_from);
	cr_assert_leq(whole, length);
	ret_text[whole] = '\0';
	for (size_t i = 0; i < whole; i++)
		if (!ret_text[i])
			ret_text[i] = '.';
	return whole;
}

Test(queries_apply, nothing_known_changes_nothing)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	cr_assert_eq(apply(&q, 7, "hello", QUERIES_NEVER, out), 5);
	cr_assert_str_eq(out, "hello");
	queries_finish(&q);
}

Test(queries_apply, ranges_become_nuls_of_the_same_length)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 102, 3, false);
	add(&q, 106, 1, false);
	cr_assert_eq(apply(&q, 100, "ab[6ncxd", QUERIES_NEVER, out), 8);
	cr_assert_str_eq(out, "ab...c.d");
	queries_finish(&q);
	ASSERT_NO_LEAKS();
}

Test(queries_apply, controls_inside_a_control_sequence_still_act)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 7, false);
	apply(&q, 0,
		"\x1b[\r\n\x05"
		"6n",
		QUERIES_NEVER, out);
	cr_assert_str_eq(out, "..\r\n...");
	queries_finish(&q);
}

Test(queries_apply, controls_inside_a_string_are_part_of_it)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 0, .length = 6, .string = true}, false);
	apply(&q, 0, "\x1b]\r\n?\a", QUERIES_NEVER, out);
	cr_assert_str_eq(out, "......");
	queries_finish(&q);
}

/* What is replayed of a sequence that ended another must still end it: `ESC [ ESC [ 6 n c` is no DA1. */
Test(queries_apply, string_terminator_stands_for_what_ended_something)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 2, .length = 4, .ends = true}, false);
	queries_add(&q, &(struct scan_query){.start = 10, .length = 4, .ends = true}, false);
	apply(&q, 0,
		"\x1b[\x1b[6ncabc\xc2\x9b"
		"6nx",
		QUERIES_NEVER, out);
	cr_assert_str_eq(out, "\x1b[\x1b\\..cabc\xc2\x9c..x");
	apply(&q, 3, "[6nc", QUERIES_NEVER, out);
	cr_assert_str_eq(out, "...c", "its introducer was somebody else's to see");
	queries_finish(&q);
}

Test(queries_apply, controls_before_the_string_terminator_still_act)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 2, .length = 6, .ends = true}, false);
	apply(&q, 0, "\x1b[\x1b\r[\n6nc", QUERIES_NEVER, out);
	cr_assert_str_eq(out, "\x1b[\x1b\r\\\n..c");
	queries_finish(&q);
}

Test(queries_apply, live_query_is_shown_once)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 10, 4, false);
	apply(&q, 8, "ab\x1b[6ncd", 0, out);
	cr_assert_str_eq(out, "ab\x1b[6ncd");
	apply(&q, 8, "ab\x1b[6ncd", 0, out);
	cr_assert_str_eq(out, "ab....cd");
	queries_finish(&q);
}

Test(queries_apply, a_reader_that_is_not_live_does_not_use_it_up)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 4, false);
	apply(&q, 0, "\x1b[6n", QUERIES_NEVER, out);
	cr_assert_str_eq(out, "....");
	apply(&q, 0, "\x1b[6n", 1, out);
	cr_assert_str_eq(out, "....", "it is older than the reader");
	apply(&q, 0, "\x1b[6n", 0, out);
	cr_assert_str_eq(out, "\x1b[6n");
	queries_finish(&q);
}

Test(queries_apply, muted_query_is_shown_to_nobody)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 4, true);
	queries_add(&q, &(struct scan_query){.start = 4, .length = 4, .muted = true}, false);
	apply(&q, 0, "\x1b[6n\x1b[5n", 0, out);
	cr_assert_str_eq(out, "........");
	queries_finish(&q);
}

Test(queries_apply, stops_before_a_query_that_would_be_cut)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 3, 4, false);
	cr_assert_eq(apply(&q, 0, "abc\x1b[6", 0, out), 3);
	cr_assert_eq(apply(&q, 3, "\x1b[6nd", 0, out), 5);
	cr_assert_str_eq(out, "\x1b[6nd");
	queries_finish(&q);
}

Test(queries_apply, reader_that_begins_inside_gets_nuls)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 4, false);
	apply(&q, 2, "6nab", QUERIES_NEVER, out);
	cr_assert_str_eq(out, "..ab");
	queries_finish(&q);
}

Test(queries_add, a_sequence_replaces_what_was_reported_inside_it)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 2, 1, false); /* ENQ */
	add(&q, 0, 5, false);
	cr_assert_eq(q.count, 1);
	apply(&q, 0,
		"\x1b[\x05"
		"6nx",
		QUERIES_NEVER, out);
	cr_assert_str_eq(out, ".....x");
	queries_finish(&q);
}

Test(queries_trim, forgets_what_lies_before)
{
	struct queries q;
	queries_init(&q);
	for (uint64_t i = 0; i < 100; i++)
		add(&q, i * 10, 4, false);
	queries_trim(&q, 504);
	cr_assert_eq(q.count, 49);
	queries_trim(&q, 513);
	cr_assert_eq(q.count, 49, "it ends after the offset");
	queries_trim(&q, UINT64_MAX);
	cr_assert_eq(q.count, 0);
	cr_assert_eq(q.floor, 0, "nothing that can still be read was forgotten");
	queries_finish(&q);
}

Test(queries_add, beyond_the_limit_the_floor_rises)
{
	struct queries q;
	queries_init(&q);
	for (uint64_t i = 0; i < QUERIES_MAX; i++)
		add(&q, i * 10, 4, false);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 0);
	for (uint64_t i = QUERIES_MAX; i < QUERIES_MAX + 3; i++)
		add(&q, i * 10, 4, false);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 24);
	queries_finish(&q);
	ASSERT_NO_LEAKS();
}

Test(queries_finish, may_be_used_again)
{
	struct queries q;
	queries_init(&q);
	add(&q, 0, 4, false);
	queries_finish(&q);
	cr_assert_eq(q.count, 0);
	add(&q, 9, 4, false);
	cr_assert_eq(q.count, 1);
	queries_finish(&q);
	ASSERT_NO_LEAKS();
}

Test(queries_model, random_reads_blank_exactly_the_ranges, .timeout = 30)
{
	enum { LENGTH = 5000 };
	static char want[LENGTH], text[LENGTH];
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct queries q;
		struct random r = {seed};
		uint64_t at = 0;
		queries_init(&q);
		memset(want, 'x', sizeof want);
		while ((at += random_below(&r, 40)) + 30 < LENGTH) {
			uint32_t length = 1 + (uint32_t)random_below(&r, 30);
			add(&q, at, length, false);
			memset(want + at, 0, length);
			at += length;
		}
		for (uint64_t offset = 0; offset < LENGTH;) {
			size_t n = 31 + random_below(&r, 200);
			n = n < LENGTH - offset ? n : LENGTH - offset;
			memset(text, 'x', n);
			size_t whole = queries_apply(&q, offset, (uint8_t *)text, n, QUERIES_NEVER);
			cr_assert(whole > 0 && whole <= n);
			cr_assert_arr_eq(text, want + offset, whole);
			offset += whole;
			if (random_below(&r, 3) == 0)
				queries_trim(&q, offset);
		}
		queries_finish(&q);
	}
}
