/* What a screen takes of memory at most, and what becomes of it when there is none. */
#include "tests/lib/drawn_check.h"
#include "tests/lib/leak.h"
#include "tests/lib/shortage.h"

#include "ring/screen/view/snapshot.h"

#include <criterion/criterion.h>
#include <errno.h>

#define MIB ((size_t)1 << 20)

static void finish(struct drawn *d)
{
	drawn_check(d);
	drawn_finish(d);
}

/* Lines of so many columns until the scrollback is full. */
static void fill(struct drawn *d, const char *text)
{
	while (d->screen->scrollback.dropped == 0)
		drawn_type(d, text);
}

static const struct resize {
	const char *text;
	unsigned cols, to;
} resizes[] = {
	{"all work and no play makes jack a dull boy ", 1000, 2},
	{"all work and no play makes jack a dull boy \x1b[800b\r\n", 1000, 2},
	{"x\x1b[998b\r\n", 1000, 2},
	{"x\x1b[998b\r\n", 1000, 999},
	{"x\x1b[2500b\r\n", 1000, 999},
	{"\xe4\xbd\xa0\x1b[498b\r\n", 1000, 3},
	{"\x1b[41mx\xe4\xbd\xa0\x1b[498b\x1b[m\r\n", 1000, 2},
	{"all work and no play makes jack a dull boy ", 2, 1000},
	{"all work and no play makes jack a dull boy\r\n", 2, 1000},
};

Test(screen_shortage, a_resize_takes_no_more_than_the_lines_that_are_kept, .timeout = 60)
{
	for (size_t i = 0; i < sizeof resizes / sizeof *resizes; i++) {
		struct drawn d;
		drawn_init(&d, 24, resizes[i].cols, 3000);
		fill(&d, resizes[i].text);
		shortage_count();
		cr_assert_eq(screen_resize(d.screen, 24, resizes[i].to), 0);
		/* Once as they come, once where they are kept. */
		cr_expect_lt(shortage_peak(), 10 * MIB, "%zu: %zu bytes", i, shortage_peak());
		cr_expect_lt(shortage_asked(), 12000, "%zu: %zu times", i, shortage_asked());
		finish(&d);
	}
	ASSERT_NO_LEAKS();
}

/* Cut short at each allocation in turn: the screen is whole, and goes on. */
Test(screen_shortage, a_resize_without_memory_is_told, .timeout = 100)
{
	static const unsigned sides[][2] = {{24, 3}, {30, 7}, {3, 40}, {50, 40}, {24, 21}};
	for (size_t k = 0; k < 2 * sizeof sides / sizeof *sides; k++) {
		size_t refused = 1;
		for (size_t n = 0; refused > 0; n++) {
			struct drawn d;
			drawn_init(&d, 24, 20, 40);
			fill(&d, "\x1b[31mx\xe4\xbd\xa0 and so on, for more than a line\x1b[m\r\n");
			drawn_type(&d, k % 2 ? "\x1b[?1049h\x1b[5;5Hhello" : "hello");
			shortage_after(n);
			int rc = screen_resize(d.screen, sides[k / 2][0], sides[k / 2][1]);
			refused = shortage_over();
			cr_expect_eq(rc, refused > 0 ? -ENOMEM : 0, "%zu, %zu", k, n);
			drawn_check(&d);
			drawn_type(&d, "\r\nand on it goes\x1b[2J\x1b[?1049l\n\n\n");
			cr_assert_eq(screen_resize(d.screen, 24, 20), 0);
			finish(&d);
		}
	}
	ASSERT_NO_LEAKS();
}

static const char *const floods[] = {"x\x1b[99999b", "\xe4\xbd\xa0\x1b[99999b",
	"e\xcc\x81\x1b[99999b", "\x1b[4hx\x1b[99999b\x1b[4l", "\x1b[2;9rx\x1b[99999b\x1b[r",
	"\x1b[41m\x1b[2J\x1b[42m\x1b[2J", "\x1b#8", "\x1b[99999L", "\x1b[99999M", "\x1b[500S",
	"\x1b[500T", "\x1b[H\x1bM", "\x1b[?2J", "\x1b[1\"q\x1b#8\x1b[?2J", "\x1b[99999 @",
	"\x1b[?1049h\x1b[?1049l", "\x1b[?47;1047;1049;47h\x1b[41m\x1b[?47l", "\x1b[99999@",
	"\x1b[99999P", "\x1b[99999X", "\x1b[H\x1b[99999I\x1b[99999Z",
	"\x1b"
	"c"};

/* Where all rows look alike, a sequence costs what a few rows do, and memory only what is then seen. */
Test(screen_shortage, what_few_bytes_can_do_to_a_large_screen, .timeout = 100)
{
	enum { TIMES = 200, SIDE = 1000 };
	for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
		struct drawn d;
		drawn_init(&d, SIDE, SIDE, 3000);
		screen_mute(d.screen, true);
		drawn_type(&d, "\x1b#8\x1b[H");
		drawn_type(&d, floods[i]);
		shortage_count();
		size_t work = 0;
		for (unsigned k = 0; k < TIMES; k++)
			for (size_t at = 0, length = strlen(floods[i]); at < length;) {
				at += screen_feed(d.screen, floods[i] + at, length - at, SIZE_MAX);
				work += screen_work(d.screen);
			}
		cr_expect_lt(work, (size_t)TIMES * 12 * SIDE, "%zu: %zu cells", i, work);
		cr_expect_lt(shortage_asked(), TIMES * 12, "%zu: %zu times", i, shortage_asked());
		cr_expect_lt(shortage_peak(), MIB, "%zu: %zu bytes", i, shortage_peak());
		finish(&d);
	}
	ASSERT_NO_LEAKS();
}

/* All that output takes may be missing. */
Test(screen_shortage, output_without_memory, .timeout = 100)
{
	static const char output[] =
		"\x1b]0;title\a\x1b[22t\x1b]4;1;#123456\a\x1b[31mred\x1b]8;;http://a\alink\x1b]8;;\a"
		"e\xcc\x81\x1b[300b\x1b[44m\x1b[2J\x1b[m\n\n\n\n\n\x1b#8\x1b[?1049h\x1b[41m\x1b[2Jx"
		"\x1b[5Sx\x1b[?1049l\x1b[500bx\x1b[500bx\x1b[500b\x1b[3J"
		"\x1b"
		"c after all";
	size_t refused = 1;
	for (size_t n = 0; refused > 0; n++) {
		struct drawn d;
		drawn_init(&d, 5, 20, 40);
		screen_mute(d.screen, true);
		char *copy = strdup(output);
		shortage_after(n);
		for (size_t at = 0; at < sizeof output - 1;)
			at += screen_feed(d.screen, copy + at, sizeof output - 1 - at, SIZE_MAX);
		struct snapshot snapshot;
		int rc = screen_snapshot(d.screen, 10, &snapshot);
		refused = shortage_over();
		cr_expect(rc == 0 || refused > 0);
		if (rc == 0)
			free(snapshot.bytes);
		free(copy);
		finish(&d);
	}
	ASSERT_NO_LEAKS();
}
