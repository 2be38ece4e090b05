/* Output as a terminal shows it, and where drawing stops. */
#include "shell/block/output.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FROM 1000u /* the offset of its first byte */

/* `count` times `piece`, then `end`. */
static struct block_output make_output(
	const char *piece, size_t count, const char *end, unsigned cols)
{
	size_t each = strlen(piece), length = each * count + strlen(end);
	char *text = malloc(length + 1);
	cr_assert_not_null(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * each, piece, each);
	memcpy(text + each * count, end, strlen(end) + 1);
	return (struct block_output){
		.text = text, .length = length, .from = FROM, .to = FROM + length, .cols = cols};
}

static void draw(struct block_output *o, enum block_format format)
{
	clock_t begun = clock();
	cr_assert_eq(block_output_draw(o, format), 0);
	/* Without limits drawing would take minutes or hours. */
	cr_assert_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 60.0);
}

static void expect_text(const struct block_output *o, const char *want)
{
	cr_expect_eq(o->length, strlen(want), "%.*s", (int)o->length, o->text);
	if (o->length == strlen(want))
		cr_expect_arr_eq(o->text, want, o->length);
}

Test(block_output, is_drawn_as_on_a_terminal, .timeout = 60)
{
	static const struct {
		const char *in, *text, *ansi;
	} cases[] = {{"", "", "\033[0m"}, {"one\r\ntwo", "one\ntwo", "one\ntwo\033[0m"},
		{"one\r\n", "one\n", "one\n\033[0m"},
		{"10%\r99%\r\nab\bc\r\n", "99%\nac\n", "99%\nac\n\033[0m"},
		{"12345678901234\r\nx", "12345678901234\nx", "12345678901234\nx\033[0m"},
		{"a\r\n\r\n", "a\n\n", "a\n\n\033[0m"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct block_output o = make_output("", 0, cases[i].in, 10);
		uint64_t to = o.to;
		draw(&o, BLOCK_TEXT);
		expect_text(&o, cases[i].text);
		cr_expect_eq(o.to, to, "%s", cases[i].in);
		free(o.text);
		o = make_output("", 0, cases[i].in, 10);
		draw(&o, BLOCK_ANSI);
		expect_text(&o, cases[i].ansi);
		free(o.text);
		o = make_output("", 0, cases[i].in, 10);
		draw(&o, BLOCK_BYTES);
		expect_text(&o, cases[i].in);
		free(o.text);
	}
}

Test(block_output, drawing_stops_when_the_work_is_too_much, .timeout = 120)
{
	static const char again[] = "\033[2J\033[H\033[50Lx";
	const size_t each = sizeof again - 1;
	struct block_output o = make_output(again, ((size_t)16 << 20) / each, "\r\nend", 1000);
	uint64_t to = o.to;
	draw(&o, BLOCK_TEXT);
	cr_expect_gt(o.to, FROM);
	cr_expect_lt(o.to, to);
	/* An unfinished sequence is left for the next call. */
	const uint64_t at = (o.to - FROM) % each;
	cr_expect(at == 0 || at == 4 || at == 7 || at == 12, "in the middle of a sequence: %d",
		(int)at);
	free(o.text);
}

Test(block_output, drawing_stops_at_the_limit_of_text_and_continues, .timeout = 120)
{
	static const char line[] = "x\033[990b\r\n";
	const size_t each = sizeof line - 1, count = 40000, shown = 992;
	size_t lines = 0;
	unsigned rounds = 0;
	for (; lines < count; rounds++) {
		struct block_output o = make_output(line, count - lines, "", 1000);
		draw(&o, rounds % 2 ? BLOCK_ANSI : BLOCK_TEXT);
		cr_assert_leq(o.length, BLOCK_OUTPUT_TEXT + 2 * shown);
		cr_assert_eq((o.to - FROM) % each, 0, "it stops between two lines");
		size_t drawn = 0;
		for (size_t at = 0; at < o.length; at++)
			drawn += o.text[at] == '\n';
		cr_assert_eq(drawn, (o.to - FROM) / each);
		lines += drawn;
		free(o.text);
	}
	cr_expect_eq(lines, count);
	cr_expect_gt(rounds, 1);
}

Test(block_output, drawing_stops_when_lines_take_too_much_memory, .timeout = 120)
{
	/* Alternating colours and characters, which cannot be packed. */
	char line[16 * 200 + 3] = "";
	for (unsigned i = 0; i < 100; i++)
		strcat(line, i % 2 ? "\033[31m\xf0\x9f\x98\x80" : "\033[7;32m\xf0\x9f\x9a\x80");
	strcat(line, "\r\n");
	struct block_output o = make_output(line, BLOCK_OUTPUT_MAX / strlen(line), "\033[m", 300);
	draw(&o, BLOCK_ANSI);
	cr_expect_gt(o.to, FROM);
	cr_expect_leq(o.length, BLOCK_OUTPUT_TEXT + ((size_t)64 << 10));
	free(o.text);
}

Test(block_output, unfinished_sequence_is_skipped, .timeout = 60)
{
	struct block_output o = make_output("\033]0;", 1, "", 80);
	uint64_t to = o.to;
	draw(&o, BLOCK_TEXT);
	expect_text(&o, "");
	cr_expect_eq(o.to, to);
	free(o.text);
}
