#include "ring/queries.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <string.h>

static struct queries q;
static char out[32]; /* what clients get, with '.' for each NUL */

static void set_up(void)
{
	queries_init(&q);
}

static void tear_down(void)
{
	queries_finish(&q);
}

TestSuite(queries_apply, .init = set_up, .fini = tear_down);
TestSuite(queries_add, .init = set_up, .fini = tear_down);
TestSuite(queries_trim, .init = set_up, .fini = tear_down);
TestSuite(queries_finish, .init = set_up, .fini = tear_down);

static void add(uint64_t start, uint32_t length)
{
	queries_add(&q, &(struct scan_query){.start = start, .length = length});
}

static void apply(uint64_t offset, const char *text)
{
	size_t length = strlen(text);
	memcpy(out, text, length + 1);
	size_t whole = queries_apply(&q, offset, (uint8_t *)out, length);
	cr_assert_leq(whole, length);
	out[whole] = '\0';
	for (size_t i = 0; i < whole; i++)
		if (!out[i])
			out[i] = '.';
}

static const struct {
	const char *name;
	struct scan_query queries[2]; /* length 0: none */
	uint64_t offset;              /* of text */
	const char *text, *want;
} cases[] = {
	{"without queries nothing changes", {{0}}, 7, "hello", "hello"},
	{"ranges become NULs of the same length",
		{{.start = 102, .length = 3}, {.start = 106, .length = 1}}, 100, "ab[6ncxd",
		"ab...c.d"},
	{"controls inside a control sequence stay", {{.length = 7}}, 0,
		"\x1b[\r\n\x05"
		"6n",
		"..\r\n..."},
	{"controls inside a string are hidden", {{.length = 6, .string = true}}, 0, "\x1b]\r\n?\a",
		"......"},
	/* What is left of a sequence that ended another one must still end it: `ESC [ ESC [ 6 n c` is no DA1. */
	{"terminator replaces a query that ended a sequence",
		{{.start = 2, .length = 4, .ends = true}, {.start = 10, .length = 4, .ends = true}},
		0,
		"\x1b[\x1b[6ncabc\xc2\x9b"
		"6nx",
		"\x1b[\x1b\\..cabc\x18...x"},
	{"no terminator if the introducer was in the previous read",
		{{.start = 2, .length = 4, .ends = true}}, 3, "[6nc", "...c"},
	{"controls before the string terminator stay", {{.start = 2, .length = 6, .ends = true}}, 0,
		"\x1b[\x1b\r[\n6nc", "\x1b[\x1b\r\\\n..c"},
	{"muted sequences are hidden too",
		{{.length = 3, .muted = true}, {.start = 3, .length = 1, .muted = true}}, 0,
		"\x1b[1mx", "....x"},
	/* Half of the terminator would make it ESC c. */
	{"stops before a query that would be split", {{.start = 3, .length = 4, .ends = true}}, 0,
		"\x1b]0\x1b", "\x1b]0"},
	{"continues with that query", {{.start = 3, .length = 4, .ends = true}}, 3, "\x1b[6nc",
		"\x1b\\..c"},
	{"reader that starts inside a query gets NULs", {{.length = 4}}, 2, "6nab", "..ab"},
};

/* Each is read three times: by one client after the other, and again after a reconnect. */
Test(queries_apply, examples)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (size_t k = 0; k < 2 && cases[i].queries[k].length > 0; k++)
			queries_add(&q, &cases[i].queries[k]);
		for (int times = 0; times < 3; times++) {
			apply(cases[i].offset, cases[i].text);
			cr_expect_str_eq(out, cases[i].want, "%s: %s", cases[i].name, out);
		}
		queries_finish(&q);
	}
}

Test(queries_add, sequence_replaces_queries_inside_it)
{
	add(2, 1); /* ENQ */
	add(0, 5);
	cr_assert_eq(q.count, 1);
	apply(0,
		"\x1b[\x05"
		"6nx");
	cr_assert_str_eq(out, ".....x");
}

Test(queries_trim, forgets_earlier_queries)
{
	for (uint64_t i = 0; i < 100; i++)
		add(i * 10, 4);
	queries_trim(&q, 504);
	cr_assert_eq(q.count, 49);
	queries_trim(&q, 513);
	cr_assert_eq(q.count, 49, "it ends after the offset");
	queries_trim(&q, UINT64_MAX);
	cr_assert_eq(q.count, 0);
	cr_assert_eq(q.floor, 0, "no range that can still be read was dropped");
}

Test(queries_add, too_many_raise_the_floor)
{
	for (uint64_t i = 0; i < QUERIES_MAX; i++)
		add(i * 10, 4);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 0);
	for (uint64_t i = QUERIES_MAX; i < QUERIES_MAX + 3; i++)
		add(i * 10, 4);
	cr_assert_eq(q.count, QUERIES_MAX);
	cr_assert_eq(q.floor, 24);
}

Test(queries_finish, may_be_used_again)
{
	add(0, 4);
	tear_down();
	cr_assert_eq(q.count, 0);
	add(9, 4);
	cr_assert_eq(q.count, 1);
}

Test(queries_model, random_reads_blank_exactly_the_ranges, .timeout = 30)
{
	enum { LENGTH = 5000 };
	static char want[LENGTH], text[LENGTH];
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct random r = {seed};
		uint64_t at = 0;
		queries_init(&q);
		memset(want, 'x', sizeof want);
		while ((at += random_below(&r, 40)) + 30 < LENGTH) {
			uint32_t length = 1 + (uint32_t)random_below(&r, 30);
			add(at, length);
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
