/* The part of a session's output that reaches the user's terminal; each case whole, and cut at every place. */
#include "ws/client/attach/guard.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Filter bytes in two pieces; returns the output, owned, with a NUL after it. */
static char *filter(bool clipboard, const char *bytes, size_t length, size_t cut)
{
	struct guard g = {.clipboard = clipboard};
	char *out = malloc(2 * GUARD_OUTPUT_MAX(length) + 1);
	size_t n = guard_filter(&g, bytes, cut, out);
	n += guard_filter(&g, bytes + cut, length - cut, out + n);
	out[n] = '\0';
	return out;
}

static void check(bool clipboard, const char *name, const char *bytes, const char *want)
{
	size_t length = strlen(bytes);
	for (size_t cut = 0; cut <= length; cut++) {
		char *out = filter(clipboard, bytes, length, cut);
		cr_expect_str_eq(out, want, "%s, cut at %zu", name, cut);
		free(out);
	}
}

#define ST "\033\\"

static const struct {
	const char *name, *bytes, *want;
} cases[] = {
	{"text", "a\tb\r\n\b\a\xc3\xa9\xe7\x95\x8c\xf0\x9f\x8e\xaa",
		"a\tb\r\n\b\a\xc3\xa9\xe7\x95\x8c\xf0\x9f\x8e\xaa"},
	{"what draws",
		"\033[1;38:2::1:2:3m\033[2J\033[5;6H\033[?25l\033[?1049h\0337\033(0\016q\017\0338",
		"\033[1;38:2::1:2:3m\033[2J\033[5;6H\033[?25l\033[?1049h\0337\033(0\016q\017\0338"},
	{"keyboard, mouse, cursor, titles",
		"\033[>4;2m\033[=1;1u\033[>1u\033[<u\033[?1006h\033[2 q\033[22;0t\033[23t\033[!p",
		"\033[>4;2m\033[=1;1u\033[>1u\033[<u\033[?1006h\033[2 q\033[22;0t\033[23t\033[!p"},
	{"title, by BEL and ST", "\033]0;t\xc3\xa9\a\033]2;u\033\\",
		"\033]0;t\xc3\xa9" ST "\033]2;u" ST},
	{"link, colours, marks",
		"\033]8;;http://x/?q\033\\a\033]11;#123456\a\033]104\a\033]133;A\a\033]7;file://h/t\a",
		"\033]8;;http://x/?q" ST "a\033]11;#123456" ST "\033]104" ST "\033]133;A" ST
		"\033]7;file://h/t" ST},
	{"clipboard", "a\033]52;c;aGk=\ab", "ab"},
	{"clipboard, ST", "a\033]52;c;aGk=\033\\b", "ab"},
	{"clipboard, C1",
		"a\xc2\x9d"
		"52;c;aGk=\xc2\x9c"
		"b",
		"ab"},
	{"clipboard, byte 9D",
		"a\x9d"
		"52;c;aGk=\x9c"
		"b",
		"a52;c;aGk=b"},
	{"clipboard, zeros before", "a\033]052;c;aGk=\ab", "ab"},
	{"clipboard, controls inside", "a\033]5\r2;\n;aGk=\ab", "ab"},
	{"clipboard, read", "a\033]52;c;?\ab", "ab"},
	{"clipboard, within a title", "\033]0;a\033]52;c;aGk=\ab", "\033]0;a" ST "b"},
	{"clipboard, ended by another sequence", "\033]52;c;aGk=\033[1mb", "\033[1mb"},
	{"clipboard, in tmux", "a\033Ptmux;\033\033]52;c;aGk=\a\033\\b", "ab"},
	{"clipboard, in screen", "a\033P\033]52;c;aGk=\a\033\\b", "ab"},
	{"clipboards of kitty and iTerm2",
		"a\033]5522;type=write\a\033]1337;Copy=:aGk=\a\033]1337;CopyToClipboard=\ab", "ab"},
	{"notifications", "a\033]9;x\a\033]777;notify;x;y\a\033]99;;x\a\033]9;4;1;50\ab", "ab"},
	{"files, pictures, pointers, fonts, logs",
		"a\033]1337;File=name=eA==:aGk=\a\033]22;wait\a\033]50;x\a\033]46;/tmp/f\a\033P0;1q~-\033\\b",
		"ab"},
	{"another program's protocol",
		"a\033P1000p%begin\033\\\033P0;1|17/6869\033\\\033P!zm\033\\b", "ab"},
	{"APC, PM, SOS", "a\033_Ga=q;AAAA\033\\\033^x\033\\\033Xx\033\\b", "ab"},
	{"the window",
		"a\033[3;0;0t\033[8;90;200t\033[2t\033[36t\033[>1t\033[9;1t\033[132$|\033[40*|b",
		"ab"},
	{"printing", "a\033[5i\033[?5i\033[ib", "ab"},
	{"modes",
		"a\033[2h\033[12l\033[?2l\033[?25;40h\033[?2048h\033[?5522h\033[?9001h\033[?38h\033[?46h\033[?1001hb",
		"ab"},
	{"consoles", "a\033[12;3]\033[[A\033]P7ff0000\ab", "aAb"},
	{"other alphabets and other ends",
		"a\033%@\033 G\033[61\"p\033k\033[0;1'z\033[2$~\033[1$}b", "ab"},
	{"questions",
		"a\005\033[c\033[>c\033[=0c\033[5n\033[?6n\033[?1$p\033[>q\033[?u\033[x\033[18t\033[?4m\033[1*y\033[#|\033[#R\033[1$w\033[&u\033Zb",
		"ab"},
	{"questions about colours", "a\033]11;?\a\033]4;1;?\033\\b", "ab"},
	{"DCS that ask", "a\033P$qm\033\\\033P+q544e\033\\b", "ab"},
	{"broken: a character inside",
		"a\033[\xc3\xa9"
		"6nb",
		"a6nb"},
	{"broken: a parameter that is late", "a\033[1$1nb\033[1?6nc", "abc"},
	{"controls inside act before", "a\033[1\r;2\nHb", "a\r\n\033[1;2Hb"},
	{"C1 in seven bits",
		"\xc2\x9b"
		"1m\xc2\x84\xc2\x8d",
		"\033[1m\033D\033M"},
	{"C1 that ask",
		"a\xc2\x9b"
		"6n\xc2\x9a\xc2\x90$qm\xc2\x9c"
		"b",
		"ab"},
	{"eight bits are no controls",
		"a\x9b"
		"6n\x9d"
		"0;x\a",
		"a6n0;x\a"},
	{"no UTF-8",
		"a\xff\xc0\x80\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xc3"
		"b\xe7\x95",
		"ab"},
	{"CAN and SUB", "a\033[1\030b\033]0;x\032c", "abc"},
	{"an escape in an escape", "\033\033[1m\033[2\033[3m", "\033[1m\033[3m"},
};

Test(guard_filter, allowed_and_dropped_sequences)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(false, cases[i].name, cases[i].bytes, cases[i].want);
}

Test(guard_filter, clipboard_is_set_if_enabled_and_never_read)
{
	check(true, "BEL", "a\033]52;c;aGk=\ab", "a\033]52;c;aGk=" ST "b");
	check(true, "no selection", "\033]52;;aGk=\033\\", "\033]52;;aGk=" ST);
	check(true, "C1",
		"\xc2\x9d"
		"52;ps;aGk=\xc2\x9c"
		"b",
		"\033]52;ps;aGk=" ST "b");
	check(true, "rubbish in it", "\033]52;c;a\r?;\xc3\xa9G\033", "\033]52;c;aG" ST);
	check(true, "aborted", "\033]52;c;aGk=\030b", "\033]52;c;aGk=\030b");
	check(true, "read", "a\033]52;c;?\ab", "ab");
	check(true, "odd selections", "a\033]52;?;aGk=\a\033]52;cx;aGk=\a\033]52;c;;aGk=\ab", "ab");
	check(true, "in tmux", "a\033Ptmux;\033\033]52;c;aGk=\a\033\\b", "a\033]52;c;aGk=" ST "b");
	check(true, "others", "a\033]5522;type=write\a\033]1337;Copy=:aGk=\a\033]9;x\ab", "ab");
}

Test(guard_filter, sequence_that_is_too_long_is_dropped)
{
	char *bytes = calloc(1, 3 * GUARD_HELD_MAX), *out;
	memset(bytes, 'a', 2 * GUARD_HELD_MAX);
	memcpy(bytes, "\033]0;", 4);
	memcpy(bytes + 2 * GUARD_HELD_MAX, "\ab\033[", 4);
	memset(bytes + 2 * GUARD_HELD_MAX + 4, '1', 1025);
	strcat(bytes, "mc");
	for (size_t cut = 0; cut < strlen(bytes); cut += 1000) {
		out = filter(false, bytes, strlen(bytes), cut);
		cr_expect_str_eq(out, "bc");
		free(out);
	}
	/* Text for the clipboard has no limit of its own. */
	memset(bytes, 'a', 2 * GUARD_HELD_MAX);
	memcpy(bytes, "\033]52;c;", 7);
	strcpy(bytes + 2 * GUARD_HELD_MAX, ST);
	out = filter(true, bytes, strlen(bytes), 5);
	cr_expect_str_eq(out, bytes);
	free(out);
	free(bytes);
}
