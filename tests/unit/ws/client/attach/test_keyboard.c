/* Input of a terminal: the detach key in all forms, and input that is dropped up to a fence. */
#include "ws/client/attach/keyboard.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CTRL_BACKSLASH 0x1c

static char kept[256];

/* Filter a text; `kept` gets what is kept. Returns whether the detach key was in it. */
static bool filter(struct keyboard *k, const char *text)
{
	struct keyboard_found found;
	snprintf(kept, sizeof kept, "%s", text);
	kept[keyboard_filter(k, kept, strlen(text), &found)] = '\0';
	return found.what == KEYBOARD_DETACH_KEY;
}

Test(keyboard_parse, valid_and_invalid_names)
{
	int key = 0;
	cr_assert(keyboard_parse("C-]", &key) && key == 0x1d);
	cr_assert(keyboard_parse("c-a", &key) && key == 1);
	cr_assert(keyboard_parse("^\\", &key) && key == CTRL_BACKSLASH);
	cr_assert(keyboard_parse("none", &key) && key == -1);
	static const char *const wrong[] = {"", "x", "C-", "C-1", "C-ab", "^", "M-x", "F1", "C-é"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect_not(keyboard_parse(wrong[i], &key), "%s", wrong[i]);
	char name[8];
	keyboard_name(0x1d, name);
	cr_assert_str_eq(name, "C-]");
	keyboard_name(1, name);
	cr_assert_str_eq(name, "C-a");
}

Test(keyboard_filter, key_in_all_forms)
{
	static const char *const is[] = {"\x1c", "ab\x1c", "\033[92;5u", "ab\033[92;5u",
		"\033[92;69u", "\033[92;133u", "\033[92;197u", "\033[92;5:1u", "\033[92:124;5u",
		"\033[27;5;92~"};
	for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
		struct keyboard k = {.detach = CTRL_BACKSLASH};
		cr_expect(filter(&k, is[i]), "%s", is[i] + (is[i][0] == '\033'));
		cr_expect_str_eq(kept, strncmp(is[i], "ab", 2) == 0 ? "ab" : "");
	}
	static const char *const is_not[] = {"", "ab", "\\", "\033[92;1u", "\033[92u", "\033[92;6u",
		"\033[92;5:3u", "\033[93;5u", "\033[27;5;93~", "\033[27;6;92~", "\033[A", "\033",
		"\033[", "\033[92", "\033[92;5"};
	for (size_t i = 0; i < sizeof is_not / sizeof *is_not; i++) {
		struct keyboard k = {.detach = CTRL_BACKSLASH};
		cr_expect_not(filter(&k, is_not[i]), "%zu", i);
		cr_expect_str_eq(kept, is_not[i]);
	}
	struct keyboard none = {.detach = -1};
	cr_assert_not(filter(&none, "\x1c\033[92;5u"));
	struct keyboard letter = {.detach = 1};
	cr_assert(filter(&letter, "\033[97;5u"));
}

Test(keyboard_filter, input_up_to_the_answer_of_a_fence_is_dropped)
{
	struct keyboard k = {.detach = CTRL_BACKSLASH, .fenced = true};
	cr_assert_not(filter(&k, "\033[I\033[?62;c\033[0"));
	cr_assert_str_eq(kept, "");
	cr_assert(k.fenced);
	cr_assert_not(filter(&k, "\033[0nmine"));
	cr_assert_str_eq(kept, "mine");
	cr_assert_not(k.fenced);
	k.asked = 1;
	cr_assert_not(filter(&k, "a\033[0nb"));
	cr_assert_str_eq(kept, "ab", "a late answer");
	cr_assert_eq(k.asked, 0);
}

Test(keyboard_filter, typed_input_passes_a_fence)
{
	struct keyboard k = {.detach = CTRL_BACKSLASH, .fenced = true};
	cr_assert_not(
		filter(&k, "ls\033[I -l\033]11;rgb:0/0/0\033\\\033P1$r0m\033\\\r\033OA\033]x\ay"));
	cr_assert_str_eq(kept, "ls -l\ry");
	cr_assert(k.fenced);
	cr_assert_not(filter(&k, "x\033[0ny\033[A"));
	cr_assert_str_eq(kept, "xy\033[A");
}

Test(keyboard_filter, split_answer_and_key_after_a_fence)
{
	struct keyboard k = {.detach = CTRL_BACKSLASH, .fenced = true};
	static const char answer[] = "\033\033[\033[0nx";
	char all[16] = "";
	for (size_t i = 0; answer[i]; i++) {
		char one[2] = {answer[i], '\0'};
		filter(&k, one);
		strcat(all, kept);
	}
	cr_assert_str_eq(all, "x");
	k = (struct keyboard){.detach = CTRL_BACKSLASH, .fenced = true};
	cr_assert(filter(&k, "\033[I\x1c"), "the detach key always works");
}

/* What is kept of a text, with commands in angle brackets, filtered in pieces. */
static const char *steer(struct keyboard *k, const char *text, size_t piece)
{
	static char seen[512];
	size_t n = 0;
	for (size_t at = 0, length = strlen(text); at < length;) {
		char bytes[256];
		struct keyboard_found found = {.rest = piece < length - at ? piece : length - at};
		const char *from = text + at;
		at += found.rest;
		while (found.rest > 0) {
			size_t left = found.rest;
			memcpy(bytes, from, left);
			size_t got = keyboard_filter(k, bytes, left, &found);
			from += left - found.rest;
			cr_assert_lt(found.rest, left);
			memcpy(seen + n, bytes, got);
			n += got;
			if (found.what == KEYBOARD_DETACH_KEY)
				n += (size_t)sprintf(seen + n, "<detached>");
			else if (found.what == KEYBOARD_COMMAND)
				n += (size_t)sprintf(
					seen + n, found.key >= ' ' ? "<%c>" : "<%d>", found.key);
		}
	}
	seen[n] = '\0';
	return seen;
}

Test(keyboard_filter, commands_after_the_prefix)
{
	static const struct {
		const char *typed, *seen;
	} cases[] = {
		{"ab\x02"
		 "dcd",
			"ab<d>cd"},
		{"\x02n\x02p", "<n><p>"},
		{"\x02\x02", "<2>"},
		{"\x02\x1c", "<detached>"},
		{"\x02\033[Ax", "<0>x"},
		{"\x02\033OPx", "<0>x"},
		{"\x02\033xy", "<0>y"},
		{"\x02\xe6\xbc\xa2x", "<0>x"},
		{"\033[98;5ux", "<x>"},
		{"\033[98;5u\033[98;5:3u\033[57442;5:3ud", "<d>"},
		{"\033[98;5u\033[57:40;2u", "<(>"},
		{"\033[98;5u\033[98;5u", "<2>"},
		{"\033[27;5;98~\033[27;2;40~", "<(>"},
		{"\x02\033[I\033[<35;3;4M\033[0n[", "<[>"},
		{"\033[200~a\x02n\033[201~\x02n", "\033[200~a\x02n\033[201~<n>"},
		{"\033[200\033[200~\x02", "\033[200\033[200~\x02"},
		{"\033[A\033[99;5u", "\033[A\033[99;5u"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct keyboard k = {.detach = CTRL_BACKSLASH, .prefix = 2};
		const char *seen = steer(&k, cases[i].typed, 200);
		cr_expect_str_eq(seen, cases[i].seen, "%zu: %s", i, seen + (seen[0] == '\033'));
	}
	struct keyboard none = {.detach = CTRL_BACKSLASH};
	cr_expect_str_eq(steer(&none, "\x02nx", 200), "\x02nx");
}

Test(keyboard_filter, command_in_pieces)
{
	for (size_t piece = 1; piece < 8; piece++) {
		struct keyboard k = {.detach = CTRL_BACKSLASH, .prefix = 2};
		cr_expect_str_eq(
			steer(&k, "ab\x02nc\x02\x02\x02\xe6\xbc\xa2x", piece), "ab<n>c<2><0>x");
	}
	/* Nothing of it is ever typed. A lone Escape is a key. */
	struct keyboard k = {.detach = CTRL_BACKSLASH, .prefix = 2};
	cr_expect_str_eq(steer(&k, "\x02", 1), "");
	cr_expect_str_eq(steer(&k, "\033", 1), "<27>");
	cr_expect_str_eq(steer(&k, "[Ax", 3), "[Ax");
	cr_expect_str_eq(steer(&k, "\x02", 1), "");
	cr_expect_str_eq(steer(&k, "\033[1;", 4), "");
	cr_expect_str_eq(steer(&k, "2Ax", 3), "<0>x");
	char endless[256];
	memset(endless, '1', sizeof endless);
	memcpy(endless, "\x02\033[", 3);
	endless[sizeof endless - 1] = '\0';
	steer(&k, endless, 200);
	cr_expect_not(k.prefixed);
}
