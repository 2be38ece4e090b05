#include "shell/input/typing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(typing_paste, pasted_text_is_sent_as_terminals_send_it)
{
	static const struct {
		const char *text;
		bool bracketed;
		const char *bytes;
	} cases[] = {{"", false, ""}, {"a", false, "a"},
		{"a\nb\r\nc\rd\n\n", false, "a\rb\rc\rd\r\r"}, {"\n", false, "\r"},
		{"a\033[201~b", false, "a[201~b"}, {"", true, "\033[200~\033[201~"},
		{"a\nb\r\n", true, "\033[200~a\rb\r\033[201~"},
		{"a\033[201~b", true, "\033[200~a[201~b\033[201~"},
		{"a\302\233201~b\302\200\302\237\302\240\302\302\201", true,
			"\033[200~a201~b\302\240\033[201~"},
		{"\001\003\004\010\011\013\032\034\177x", false, "\011x"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = strlen(cases[i].text);
		char *dst = malloc(TYPING_PASTE_SIZE(length));
		size_t n = typing_paste(cases[i].text, length, cases[i].bracketed, dst);
		cr_expect_eq(n, strlen(cases[i].bytes), "%zu", i);
		cr_expect_arr_eq(dst, cases[i].bytes, n, "%zu", i);
		free(dst);
	}
}

Test(typing_clean, is_the_same_at_every_cut)
{
	static const char text[] = "a\r\nb\033[201~\302\233c\302\302\233\233\302\240\r\r\n\n",
			  cleaned[] = "a\rb[201~c\233\302\240\r\r\r";
	size_t length = sizeof text - 1;
	for (size_t cut = 0; cut <= length; cut++) {
		char dst[sizeof text + 1];
		struct typing_cleaner c = {0};
		size_t n = typing_clean(&c, text, cut, dst);
		n += typing_clean(&c, text + cut, length - cut, dst + n);
		cr_expect_eq(n, sizeof cleaned - 1, "%zu", cut);
		cr_expect_arr_eq(dst, cleaned, n, "%zu", cut);
	}
}

static struct termios cooked(void)
{
	struct termios t = {.c_iflag = ICRNL, .c_lflag = ICANON | ISIG | IEXTEN | ECHO};
	for (size_t i = 0; i < NCCS; i++)
		t.c_cc[i] = _POSIX_VDISABLE;
	t.c_cc[VINTR] = 3;
	t.c_cc[VEOF] = 4;
	t.c_cc[VKILL] = 21;
	t.c_cc[VERASE] = 127;
	t.c_cc[VLNEXT] = 22;
	return t;
}

/* Whether the line accepts count times x and then text, after its earlier input. */
static bool line_accepts(
	struct typing_line *line, const struct termios *modes, size_t count, const char *text)
{
	static char bytes[3 * TYPING_LINE_MAX];
	memset(bytes, 'x', count);
	size_t length = strlen(text);
	memcpy(bytes + count, text, length);
	return typing_follow_line(line, modes, bytes, count + length);
}

Test(typing_follow_line, length_is_limited)
{
	const struct termios modes = cooked();
	struct typing_line line = {0};
	cr_expect(line_accepts(&line, &modes, TYPING_LINE_MAX, "\n"));
	cr_expect_eq(line.length, 0);
	cr_expect(line_accepts(&line, &modes, TYPING_LINE_MAX, ""));
	cr_expect_not(line_accepts(&line, &modes, 1, ""), "the line is full");
	line = (struct typing_line){0};
	cr_expect_not(line_accepts(&line, &modes, TYPING_LINE_MAX + 1, "\n"));
}

Test(typing_follow_line, ignored_return_does_not_end_the_line)
{
	struct termios modes = cooked();
	struct typing_line line = {0};
	modes.c_iflag |= IGNCR;
	cr_expect(line_accepts(&line, &modes, TYPING_LINE_MAX, "\r"));
	cr_expect_not(line_accepts(&line, &modes, 1, ""));
}

Test(typing_follow_line, characters_that_end_a_line)
{
	static const char *const ends[] = {"\n", "\r", "\x03", "\x04", "\x15"};
	const struct termios modes = cooked();
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct typing_line line = {0};
		cr_expect(line_accepts(&line, &modes, 9, ends[i]), "%zu", i);
		cr_expect_eq(line.length, 0, "%zu", i);
	}
}

Test(typing_follow_line, erasing_quoting_and_other_modes)
{
	struct termios modes = cooked();
	struct typing_line line = {0};
	cr_expect(line_accepts(&line, &modes, 3, "\x7f"));
	cr_expect_eq(line.length, 2);
	cr_expect(line_accepts(&line, &modes, 0, "\x16"));
	cr_expect(line_accepts(&line, &modes, 0, "\n"));
	cr_expect_eq(line.length, 3, "a quoted line feed does not end it");
	modes.c_iflag = INLCR;
	cr_expect(line_accepts(&line, &modes, 0, "\n\r"));
	cr_expect_eq(line.length, 5);
	modes.c_lflag = ICANON;
	cr_expect(line_accepts(&line, &modes, 0, "\x03\x16"));
	cr_expect_eq(line.length, 7);
	modes.c_cc[VEOL] = ';';
	cr_expect(line_accepts(&line, &modes, 0, "a;"));
	cr_expect_eq(line.length, 0);
}

Test(typing_find_answer, finds_the_end_of_the_line_or_a_signal_character)
{
	static const struct {
		const char *text;
		size_t length, at;
	} cases[] = {{"", 0, 0}, {"abc", 3, 3}, {"a\rb", 3, 1}, {"\n", 1, 0}, {"pw\x03", 3, 2},
		{"\x04", 1, 0}, {"\x1a", 1, 0}, {"\x1c", 1, 0}, {"a\0b", 3, 3}, {"\x7f\x15", 2, 2}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(
			typing_find_answer(cases[i].text, cases[i].length), cases[i].at, "%zu", i);
}

Test(typing_paste, is_tracked_at_every_cut)
{
	static const struct {
		const char *bytes;
		bool open;
	} cases[] = {{"", false}, {"a", false}, {"\033[200~", true}, {"\033[200~a\033[201~", false},
		{"\033[200~\033[20\033[201~", false}, {"\033\033[200~", true}, {"\033[201~", false},
		{"\033[200~\033[200~", true}, {"\033[200~x\033[201~\033[200~", true},
		{"\033[2000~", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = strlen(cases[i].bytes);
		for (size_t cut = 0; cut <= length; cut++) {
			struct typing_pasting p = {0};
			typing_follow_paste(&p, cases[i].bytes, cut);
			typing_follow_paste(&p, cases[i].bytes + cut, length - cut);
			cr_expect_eq(p.open, cases[i].open, "%zu at %zu", i, cut);
		}
	}
}

Test(typing_typist_id, different_typists_have_different_ids)
{
	const struct typist one = {.author = "a", .label = "", .client = 1},
			    again = {.author = "a", .label = "", .client = 2, .key = 77},
			    later = {.author = "a", .label = "", .client = 3, .key = 77},
			    api = {.author = "a", .label = "b"},
			    other = {.author = "ab", .label = ""};
	cr_expect_eq(typing_typist_id(&again), typing_typist_id(&later));
	cr_expect_neq(typing_typist_id(&one), typing_typist_id(&again));
	cr_expect_neq(typing_typist_id(&api), typing_typist_id(&other));
	cr_expect_neq(typing_typist_id(&api), 0);
}
