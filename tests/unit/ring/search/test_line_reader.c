/* Lines of output without a screen: which bytes are text, their offsets, and where a line ends. */
#include "ring/search/line_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* What was read: lines with their text, and the offsets of each character. */
struct got {
	char line[100], text[400], places[400];
	size_t count;
};

static void put(struct got *g, char c, uint64_t start, uint64_t end)
{
	size_t at = strlen(g->places);
	g->line[g->count++] = c;
	g->line[g->count] = '\0';
	snprintf(g->places + at, sizeof g->places - at, "%u-%u ", (unsigned)start, (unsigned)end);
}

static void on_text(void *user, const uint8_t *ascii, size_t length, uint64_t start)
{
	for (size_t i = 0; i < length; i++)
		put(user, (char)ascii[i], start + i, start + i + 1);
}

static void on_character(void *user, uint32_t code, uint64_t start, uint64_t end)
{
	(void)code;
	put(user, '*', start, end);
}

static void on_blanks(void *user, unsigned count, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < count; i++)
		put(user, '_', start, end);
}

static void on_back(void *user)
{
	struct got *g = user;
	g->count -= g->count > 0;
	g->line[g->count] = '\0';
}

static void on_end(void *user)
{
	struct got *g = user;
	size_t at = strlen(g->text);
	snprintf(g->text + at, sizeof g->text - at, "%.*s|", (int)g->count, g->line);
	g->count = 0;
	g->line[0] = '\0';
}

static unsigned column_of(const void *user)
{
	const struct got *g = user;
	return (unsigned)g->count;
}

static bool is_begun(const void *user)
{
	return column_of(user) > 0;
}

static const struct line_reader_ops ops = {.text = on_text,
	.character = on_character,
	.blanks = on_blanks,
	.back = on_back,
	.end = on_end,
	.column = column_of,
	.is_begun = is_begun};

static const struct {
	const char *in, *want;
} cases[] = {
	{"plain", "plain|"},
	{"one\r\ntwo\n", "one||two||"},
	{"a\tb", "a_______b|"},
	{"12345678\tb", "12345678________b|"},
	{"abc\b\bd", "ad|"},
	{"\b\bd", "d|"},
	{"a\033[31mb\033[mc", "abc|"},
	{"a\033[3Cb\033[Cc", "a___b_c|"},
	{"\033[5Ga\033[9Gb\033[`c", "a_b_c|"},
	{"a\033[2;3Hb\033[Ac\033[Bd\033[Ee\033[Ff\033[4dg\033[1;1fh", "a|b|c|d|e|f|g|h|"},
	{"a\033Db\033Ec\033Md\033ce", "a|b|c|d|e|"},
	{"a\xc2\x85"
	 "b\xc2\x84"
	 "c",
		"a|b|c|"},
	{"a\vb\fc", "a|b|c|"},
	{"a\033]0;title\ab\033P1$r0m\033\\c", "abc|"},
	{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "***|"},
};

Test(line_reader, result_is_the_same_at_every_cut)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint8_t *in = (const uint8_t *)cases[i].in;
		size_t length = strlen(cases[i].in);
		for (size_t cut = 0; cut <= length; cut++) {
			struct got g = {0};
			struct line_reader r;
			line_reader_init(&r, &ops, &g, 0);
			line_reader_feed(&r, in, cut, NULL);
			line_reader_feed(&r, in + cut, length - cut, NULL);
			on_end(&g);
			cr_expect_str_eq(
				g.text, cases[i].want, "%zu cut at %zu: %s", i, cut, g.text);
			cr_expect_eq(r.parser.offset, length);
			line_reader_finish(&r);
		}
	}
}

Test(line_reader, reports_the_bytes_of_each_character)
{
	struct got g = {0};
	struct line_reader r;
	static const char in[] = "a\xc3\xa9\033[2Cb";
	line_reader_init(&r, &ops, &g, 10);
	line_reader_feed(&r, (const uint8_t *)in, sizeof in - 1, NULL);
	cr_expect_str_eq(g.places, "10-11 11-13 13-17 13-17 17-18 ");
	line_reader_finish(&r);
}

Test(line_reader, starts_over_after_lost_bytes)
{
	struct got g = {0};
	struct line_reader r;
	line_reader_init(&r, &ops, &g, 0);
	line_reader_feed(&r, (const uint8_t *)"a\033[3", 4, NULL);
	line_reader_skip(&r, 100);
	line_reader_feed(&r, (const uint8_t *)"1b", 2, NULL);
	cr_expect_str_eq(g.line, "a1b", "the unfinished sequence is dropped");
	cr_expect_str_eq(g.places, "0-1 100-101 101-102 ");
	line_reader_finish(&r);
}
