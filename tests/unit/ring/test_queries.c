#include "ring/queries.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <string.h>

static void add(struct queries *q, uint64_t start, uint32_t length)
{
	queries_add(q, &(struct scan_query){.start = start, .length = length});
}

/* Apply q to text at offset; ret_text gets what clients get, with '.' for each NUL. */
static size_t apply(const struct queries *q, uint64_t offset, const char *text, char *ret_text)
{
	size_t length = strlen(text);
	memcpy(ret_text, text, length + 1);
	size_t whole = queries_apply(q, offset, (uint8_t *)ret_text, length);
	cr_assert_leq(whole, length);
	ret_text[whole] = '\0';
	for (size_t i = 0; i < whole; i++)
		if (!ret_text[i])
			ret_text[i] = '.';
	return whole;
}

Test(queries_apply, without_queries_nothing_changes)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	cr_assert_eq(apply(&q, 7, "hello", out), 5);
	cr_assert_str_eq(out, "hello");
	queries_finish(&q);
}

Test(queries_apply, ranges_become_nuls_of_the_same_length)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 102, 3);
	add(&q, 106, 1);
	cr_assert_eq(apply(&q, 100, "ab[6ncxd", out), 8);
	cr_assert_str_eq(out, "ab...c.d");
	queries_finish(&q);
}

Test(queries_apply, controls_inside_a_control_sequence_stay)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 7);
	apply(&q, 0,
		"\x1b[\r\n\x05"
		"6n",
		out);
	cr_assert_str_eq(out, "..\r\n...");
	queries_finish(&q);
}

Test(queries_apply, controls_inside_a_string_are_hidden)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 0, .length = 6, .string = true});
	apply(&q, 0, "\x1b]\r\n?\a", out);
	cr_assert_str_eq(out, "......");
	queries_finish(&q);
}

/* What is left of a sequence that ended another one must still end it: `ESC [ ESC [ 6 n c` is no DA1. */
Test(queries_apply, terminator_replaces_a_query_that_ended_a_sequence)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 2, .length = 4, .ends = true});
	queries_add(&q, &(struct scan_query){.start = 10, .length = 4, .ends = true});
	apply(&q, 0,
		"\x1b[\x1b[6ncabc\xc2\x9b"
		"6nx",
		out);
	cr_assert_str_eq(out, "\x1b[\x1b\\..cabc\x18...x");
	apply(&q, 3, "[6nc", out);
	cr_assert_str_eq(out, "...c", "its introducer was in the previous read");
	queries_finish(&q);
}

Test(queries_apply, controls_before_the_string_terminator_stay)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 2, .length = 6, .ends = true});
	apply(&q, 0, "\x1b[\x1b\r[\n6nc", out);
	cr_assert_str_eq(out, "\x1b[\x1b\r\\\n..c");
	queries_finish(&q);
}

Test(queries_apply, muted_sequences_are_hidden_too)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 0, .length = 3, .muted = true});
	queries_add(&q, &(struct scan_query){.start = 3, .length = 1, .muted = true});
	apply(&q, 0, "\x1b[1mx", out);
	cr_assert_str_eq(out, "....x");
	queries_finish(&q);
}

/* One client reads it after the other, and again after a reconnect. */
Test(queries_apply, gives_the_same_every_time)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 10, 4);
	for (int i = 0; i < 3; i++) {
		apply(&q, 8, "ab\x1b[6ncd", out);
		cr_assert_str_eq(out, "ab....cd");
	}
	queries_finish(&q);
}

Test(queries_apply, stops_before_a_query_that_would_be_split)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	queries_add(&q, &(struct scan_query){.start = 3, .length = 4, .ends = true});
	cr_assert_eq(apply(&q, 0, "\x1b]0\x1b", out), 3);
	cr_assert_eq(apply(&q, 3, "\x1b[6nc", out), 5);
	cr_assert_str_eq(out, "\x1b\\..c", "half of the terminator would make it ESC c");
	queries_finish(&q);
}

Test(queries_apply, reader_that_starts_inside_a_query_gets_nuls)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 0, 4);
	apply(&q, 2, "6nab", out);
	cr_assert_str_eq(out, "..ab");
	queries_finish(&q);
}

Test(queries_add, sequence_replaces_queries_inside_it)
{
	struct queries q;
	char out[32];
	queries_init(&q);
	add(&q, 2, 1); /* ENQ */
	add(&q, 0, 5);
	cr_assert_eq(q.count, 1);
	apply(&q, 0,
		"\x1b[\x05"
		"6nx",
		out);
	cr_assert_str_eq(out, ".....x");
	queries_finish(&q);
}

Test(queries_trim, forgets_earlier_queries)
{
	struct queries q;
	queries_init(&q);
	for (uint64_t i = 0; i < 100; i++)
		add(&q, i * 10, 4);
	queries_trim(&q, 504);
	cr_assert_eq(q.count, 49);
	queries_trim(&q, 513);
	cr_assert_eq(q.count, 49, "it ends after the offset");
	queries_trim(&q, UINT64_MAX);
	cr_assert_eq(q.count, 0);
	cr_assert_eq(q.floor, 0, "no range that can still be read was dropped");
	queries_finish(&q);
}

Test(queries_add, too_many_raise_the_floor)
{
	struct queries q;
	queries_init(&q);
	for (uint64_t i = 0; i < QUERIES_MAX; i++)
		add(&q, i * 10, 4);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 0);
	for (uint64_t i = QUERIES_MAX; i < QUERIES_MAX + 3; i++)
		add(&q, i * 10, 4);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 24);
	queries_finish(&q);
}

Test(queries_finish, may_be_used_again)
{
	struct queries q;
	queries_init(&q);
	add(&q, 0, 4);
	queries_finish(&q);
	cr_assert_eq(q.count, 0);
	add(&q, 9, 4);
	cr_assert_eq(q.count, 1);
	queries_finish(&q);
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
			add(&q, at, length);
			memset(want + at, 0, length);
			at += length;
		}
		for (uint64_t offset = 0; offset < LENGTH;) {
			size_t n = 31 + random_below(&r, 200);
			n = n < LENGTH - offset ? n : LENGTH - offset;
			memset(text, 'x', n);
			size_t whole = queries_apply(&q, offset, (uint8_t *)text, n);
			cr_assert(whole > 0 && whole <= n);
			cr_assert_arr_eq(text, want + offset, whole);
			offset += whole;
			if (random_below(&r, 3) == 0)
				queries_trim(&q, offset);
		}
		queries_finish(&q);
	}
}
