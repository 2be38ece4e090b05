#include "ring/piped.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(piped, .timeout = 60);

#define SIZE 4096u

/* The visible part of text without NULs, fed in pieces of `step` bytes at offset. */
static void show(const char *text, size_t length, size_t step, uint64_t offset, char *shown)
{
	struct piped p;
	uint8_t copy[SIZE];
	size_t settled = 0, n = 0;
	piped_init(&p, SIZE);
	piped_reset(&p);
	for (size_t end = step; settled < length; end += step) {
		bool last = end >= length;
		if (last)
			end = length;
		size_t done = piped_feed(
			&p, offset + settled, (const uint8_t *)text + settled, end - settled, last);
		cr_assert_leq(done, end - settled);
		settled += done;
		cr_assert(!last || settled == length);
	}
	memcpy(copy, text, length);
	piped_apply(&p, offset, copy, length);
	for (size_t i = 0; i < length; i++)
		if (copy[i] != '\0')
			shown[n++] = (char)copy[i];
	shown[n] = '\0';
	piped_finish(&p);
}

static void expect(const char *text, const char *wanted)
{
	char shown[SIZE];
	size_t length = strlen(text);
	for (size_t step = 1; step <= length; step++) {
		show(text, length, step, 3 * SIZE - 5, shown);
		cr_expect_str_eq(shown, wanted, "step %zu: %s", step, text);
	}
}

Test(piped, text_colours_and_cursor_moves_are_shown)
{
	static const char *const plain[] = {"abc\r\n\tdef\b\a",
		"gr\xc3\xb6\xc3\x9f"
		"er \xe2\x82\xac \xf0\x9f\x98\x80",
		"\033[1;31mred\033[m \033[38:2::1:2:3mx", "\033[2K\r50%\033[A\033[3B\033[H\033[2J"};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		expect(plain[i], plain[i]);
}

Test(piped, queries_and_lasting_changes_are_hidden)
{
	static const char *const hidden[] = {"\033[c", "\033[>c", "\033[6n", "\033[?6n", "\033[5n",
		"\033Z", "\005", "\033[?2004h", "\033[?1049h", "\033[?1000;1006h", "\033[?25l",
		"\033[4h", "\033[20h", "\033[?7l", "\033[?6h", "\033[3;5r", "\033(0", "\033)0",
		"\016", "\177", "\030", "\001", "\017", "\033c", "\033[!p", "\0337", "\0338",
		"\033[s", "\033[u", "\033H", "\033[3g", "\033=", "\033>", "\033#8",
		"\033]0;title\a", "\033]2;title\033\\", "\033]52;c;eA==\a", "\033]11;?\a",
		"\033]8;;http://x\a", "\033P$qm\033\\", "\033P+q544e\033\\", "\033_apc\033\\",
		"\033^pm\033\\", "\033Xsos\033\\", "\033[>1u", "\033[=5u", "\033[?u", "\033[>4;2m",
		"\033[22t", "\033[23t", "\033[18t", "\033[2 q", "\033[1\"q", "\033[?5W",
		"\xc2\x9b"
		"c",
		"\xc2\x9b?1049h",
		"\xc2\x9d"
		"0;t\a",
		"\033%G", "\033[1;2;3;4$y", "\033[?69h\033[2;9s", "\033[?2026h"};
	char text[256], wanted[256];
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		snprintf(text, sizeof text, "a%sb", hidden[i]);
		expect(text, "ab");
		snprintf(text, sizeof text, "%s%s", hidden[i], hidden[i]);
		expect(text, "");
		snprintf(wanted, sizeof wanted, "\xe2\x82\xac%s", "\033[1m");
		snprintf(text, sizeof text, "\xe2\x82\xac%s\033[1m", hidden[i]);
		expect(text, wanted);
	}
}

Test(piped, unfinished_sequences_are_hidden_and_swallow_nothing)
{
	static const char *const open[] = {"\033", "\033[", "\033[1;3", "\033[?", "\033(",
		"\033]0;ti", "\033]", "\033P", "\033Pq#1", "\033_x", "\xc3", "\xe2\x82",
		"\xf0\x9f\x98", "\033]x\033", "\xc2\x9d"};
	char text[64], shown[SIZE];
	for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
		snprintf(text, sizeof text, "x%s", open[i]);
		expect(text, "x");
		/* Output of the next writer is parsed anew. */
		struct piped p;
		piped_init(&p, SIZE);
		size_t done = piped_feed(&p, 0, (const uint8_t *)text, strlen(text), true);
		cr_expect_eq(done, strlen(text));
		piped_reset(&p);
		piped_feed(&p, 100, (const uint8_t *)"m\\y\xc2\xa9", 5, true);
		uint8_t copy[] = "m\\y\xc2\xa9";
		piped_apply(&p, 100, copy, 5);
		cr_expect_str_eq((char *)copy, "m\\y\xc2\xa9");
		piped_finish(&p);
	}
	/* An unfinished character hides nothing after it. */
	show("a\xc3\nb\xe2\x82\n\033[1mc", 13, 13, 0, shown);
	cr_expect_str_eq(shown, "a\nb\n\033[1mc");
}

Test(piped, splitting_changes_nothing)
{
	static const char *const parts[] = {"\033", "[", "]", "c", "?", "1", ";", "h", "m", "\a",
		"\\", "\xc2", "\x9b", "\xe2\x82\xac", "a", "\n", "\016", "\030", "P", "\x80",
		"\xff", "\005"};
	struct random random = {.state = 7};
	for (int round = 0; round < 2000; round++) {
		char text[128] = "", whole[SIZE], pieces[SIZE];
		for (int i = 0; i < 20; i++)
			strcat(text, parts[random_below(&random, sizeof parts / sizeof *parts)]);
		show(text, strlen(text), strlen(text), 0, whole);
		show(text, strlen(text), 1 + random_below(&random, 7), 0, pieces);
		cr_assert_str_eq(whole, pieces);
	}
}

Test(piped, bits_are_reused_when_the_ring_wraps)
{
	struct piped p;
	uint8_t bytes[SIZE];
	piped_init(&p, SIZE);
	cr_expect_null(p.bits, "plain output costs nothing");
	memset(bytes, 5, sizeof bytes);
	piped_feed(&p, 0, bytes, SIZE, true);
	cr_assert_not_null(p.bits);
	for (uint64_t at = SIZE; at < 2 * SIZE;) {
		size_t n = at % 13 + 1;
		piped_clear(&p, at, n);
		at += n;
	}
	memset(bytes, 'x', sizeof bytes);
	piped_apply(&p, SIZE, bytes, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		cr_assert_eq(bytes[i], 'x', "byte %zu", i);
	piped_forget(&p, SIZE - 1);
	cr_expect_not_null(p.bits);
	piped_forget(&p, SIZE);
	cr_expect_null(p.bits);
}
