/* Output for terminals with fewer features; each case whole, and cut at every place. */
#include "ws/client/attach/downgrade.h"
#include "ws/client/attach/palette.h"

#include <criterion/criterion.h>
#include <string.h>

struct written {
	char bytes[8192];
	size_t length;
};

static bool put(void *user, const void *bytes, size_t length)
{
	struct written *w = user;
	memcpy(w->bytes + w->length, bytes, length);
	w->length += length;
	w->bytes[w->length] = '\0';
	return true;
}

static void check(const char *term, const char *bytes, const char *want)
{
	for (size_t cut = 0; cut <= strlen(bytes); cut++) {
		struct written w = {.length = 0};
		struct downgrade m;
		downgrade_init(&m, term, put, &w);
		cr_assert(downgrade_write(&m, bytes, cut));
		cr_assert(downgrade_write(&m, bytes + cut, strlen(bytes) - cut));
		cr_expect_str_eq(w.bytes, want, "%s, cut at %zu: %s", term, cut, w.bytes);
	}
}

static const struct {
	const char *term, *bytes, *want;
} cases[] = {
	{"xterm-256color", "\033[>4;2m\033]8;;x\033\\\033[38;2;1;2;3ma",
		"\033[>4;2m\033]8;;x\033\\\033[38;2;1;2;3ma"},
	{"linux", "a\xc3\xa9\r\n\033[5;6H\033[K\0337\033(0q\033(B",
		"a\xc3\xa9\r\n\033[5;6H\033[K\0337\033(0q\033(B"},
	{"linux", "a\033]0;t\033\\b\033]104\033\\c\033]R\ad\033P1q\033\\e", "abcde"},
	{"linux", "a\033[>4;2m\033[<16u\033[=0;1u\033[0 q\033[0\"q\033[!p\033[?1$pb", "ab"},
	{"linux", "\033*B\033+B\033n\033(B\033)B", "\033(B\033)B"},
	{"linux", "\033[;1;31m\033[4:3m\033[58:5:9m\033[4:0m\033[58;2;1;2;3;7m\033[53m",
		"\033[0;1;31m\033[4m\033[24m\033[7m"},
	{"linux", "\033[38;5;1m\033[38;2;250;5;5m\033[48;5;21m\033[38:2::0:200:0m\033[39m",
		"\033[31m\033[1;31m\033[44m\033[22;32m\033[39m"},
	{"linux", "\033[2m\033[91m\033[22m\033[39m\033[1;92;39m\033[m",
		"\033[2m\033[1;31m\033[22;1m\033[22;39m\033[1;32;39m\033[0m"},
	{"linux", "\033[?25;1049;7h\033[?1049l\033[?47h", "\033[?25h\033[?7h\033[2J\033[2J"},
	{"linux", "x\xe2\x94\x80\033[3by\033[by\033[m\033[2b",
		"x\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80yyy\033[0m"},
	{"linux", "\033[38;5m\033[38m\033[38;2;1m\033[38;5;256m\033[38;9;1mx", "x"},
	{"vt220", "\033[1;31;44;91;38;5;9;7m\033[31m\033[?1049h", "\033[1;7m\033[2J"},
	{"screen", "\033[3;31;38;5;208m\033[?1049h\033]2;t\033\\\033]8;;http://x\033\\",
		"\033[31;33m\033[?1049h\033]2;t\033\\"},
	{"screen-256color", "\033[38;2;255;0;0m\033[48;5;17m\033[38;5;9m\033[38;5;3m",
		"\033[38;5;196m\033[48;5;17m\033[91m\033[33m"},
	{"dumb", "a\033[1mb\033[2J\033]0;t\ac\030\033(0\033[1\n;2Hx\r\n\x1b[?1049h\t",
		"abc\nx\r\n\t"},
};

Test(downgrade_write, each_terminal_gets_what_it_supports)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(cases[i].term, cases[i].bytes, cases[i].want);
}

Test(downgrade_write, sequence_that_is_too_long_is_dropped)
{
	static char bytes[3 * DOWNGRADE_HELD_MAX], want[] = "ab";
	struct written w = {.length = 0};
	struct downgrade m;
	for (size_t i = 0; i < 2; i++) {
		memset(bytes, '1', sizeof bytes);
		memcpy(bytes, i == 0 ? "a\033[" : "a\033]0;", i == 0 ? 3 : 5);
		memcpy(bytes + sizeof bytes - 3, i == 0 ? "mb" : "\ab", 3);
		w.length = 0;
		downgrade_init(&m, "screen", put, &w);
		cr_assert(downgrade_write(&m, bytes, strlen(bytes)));
		cr_expect_str_eq(w.bytes, want);
	}
}

Test(downgrade_write, repetition_is_limited)
{
	struct written w = {.length = 0};
	struct downgrade m;
	downgrade_init(&m, "linux", put, &w);
	cr_assert(downgrade_write(&m, "x\033[99999999999999999999b", 24));
	cr_expect_eq(w.length, 1001u);
}

static bool refuse(void *user, const void *bytes, size_t length)
{
	(void)bytes;
	(void)length;
	++*(unsigned *)user;
	return false;
}

Test(downgrade_write, nothing_follows_a_failed_write)
{
	unsigned calls = 0;
	struct downgrade m;
	downgrade_init(&m, "linux", refuse, &calls);
	cr_expect_not(downgrade_write(&m, "x", 1));
	cr_expect_not(downgrade_write(&m, "x", 1));
	cr_expect_eq(calls, 1u);
}

Test(modest_colour, nearest_colour)
{
	cr_expect_eq(palette_nearest_16(0), 0u);
	cr_expect_eq(palette_nearest_16(0xffffff), 15u);
	cr_expect_eq(palette_nearest_16(0xfe0101), 9u);
	cr_expect_eq(palette_nearest_256(0xff0000), 196u);
	cr_expect_eq(palette_nearest_256(0x080808), 232u);
	for (unsigned i = 16; i < 256; i++)
		cr_expect_eq(
			palette_colour(palette_nearest_256(palette_colour(i))), palette_colour(i));
}
