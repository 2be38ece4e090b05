/* The most memory that a screen takes, and what happens when there is none. */
#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"
#include "tests/lib/shortage.h"

#include "ring/screen/trim.h"
#include "ring/screen/view/render.h"
#include "ring/screen/view/snapshot.h"
#include "ring/search/search.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>

#define MIB ((size_t)1 << 20)

/* Print lines until the scrollback is full. */
static void fill(const char *text)
{
	while (d.screen->scrollback.dropped == 0)
		drawn_type(&d, text);
}

TestSuite(screen_shortage, .fini = drawn_tear_down, .timeout = 100);

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

Test(screen_shortage, resize_needs_no_more_than_the_kept_lines)
{
	for (size_t i = 0; i < sizeof resizes / sizeof *resizes; i++) {
		drawn_restart(24, resizes[i].cols, 3000);
		fill(resizes[i].text);
		shortage_count();
		cr_assert_eq(screen_resize(d.screen, 24, resizes[i].to), 0);
		/* Once for the new lines, once for the lines that are kept. */
		cr_expect_lt(shortage_peak(), 10 * MIB, "%zu: %zu bytes", i, shortage_peak());
		cr_expect_lt(shortage_asked(), 12000, "%zu: %zu times", i, shortage_asked());
	}
}

/* Each allocation fails in turn: the screen stays consistent and usable. */
Test(screen_shortage, resize_without_memory_is_an_error)
{
	static const unsigned sides[][2] = {{24, 3}, {30, 7}, {3, 40}, {50, 40}, {24, 21}};
	for (size_t k = 0; k < 2 * sizeof sides / sizeof *sides; k++) {
		size_t refused = 1;
		for (size_t n = 0; refused > 0; n++) {
			drawn_restart(24, 20, 40);
			fill("\x1b[31mx\xe4\xbd\xa0 and so on, for more than a line\x1b[m\r\n");
			drawn_type(&d, k % 2 ? "\x1b[?1049h\x1b[5;5Hhello" : "hello");
			if (k % 2)
				scrollback_freeze(&d.screen->scrollback, 2, 300, UINT_MAX);
			shortage_after(n);
			int rc = screen_resize(d.screen, sides[k / 2][0], sides[k / 2][1]);
			refused = shortage_over();
			cr_expect_eq(rc, refused > 0 ? -ENOMEM : 0, "%zu, %zu", k, n);
			drawn_check(&d);
			drawn_type(&d, "\r\nand on it goes\x1b[2J\x1b[?1049l\n\n\n");
			cr_assert_eq(screen_resize(d.screen, 24, 20), 0);
		}
	}
}

static const char *const floods[] = {"x\x1b[99999b", "\xe4\xbd\xa0\x1b[99999b",
	"e\xcc\x81\x1b[99999b", "\x1b[4hx\x1b[99999b\x1b[4l", "\x1b[2;9rx\x1b[99999b\x1b[r",
	"\x1b[41m\x1b[2J\x1b[42m\x1b[2J", "\x1b#8", "\x1b[99999L", "\x1b[99999M", "\x1b[500S",
	"\x1b[500T", "\x1b[H\x1bM", "\x1b[?2J", "\x1b[1\"q\x1b#8\x1b[?2J", "\x1b[99999 @",
	"\x1b[?1049h\x1b[?1049l", "\x1b[?47;1047;1049;47h\x1b[41m\x1b[?47l", "\x1b[99999@",
	"\x1b[99999P", "\x1b[99999X", "\x1b[H\x1b[99999I\x1b[99999Z", "\033c"};

/* If all rows are alike, a sequence costs as much as a few rows, and memory only for what is visible then. */
Test(screen_shortage, cost_of_short_sequences_on_a_large_screen)
{
	enum { TIMES = 200, SIDE = 1000 };
	for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
		drawn_restart(SIDE, SIDE, 3000);
		screen_mute(d.screen, true);
		/* Each row has had a line of its own, which is kept for reuse. */
		for (unsigned y = 0; y < SIDE; y++)
			drawn_type(&d, "x\n");
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
	}
}

/* Every allocation of output may fail. */
Test(screen_shortage, output_without_memory)
{
	static const char output[] =
		"\x1b]0;title\a\x1b[22t\x1b]4;1;#123456\a\x1b[31mred\x1b]8;;http://a\alink\x1b]8;;\a"
		"e\xcc\x81\x1b[300b\x1b[44m\x1b[2J\x1b[m\n\n\n\n\n\x1b#8\x1b[?1049h\x1b[41m\x1b[2Jx"
		"\x1b[5Sx\x1b[?1049l\x1b[500bx\x1b[500bx\x1b[500b\x1b[3J"
		"\033c after all";
	size_t refused = 1;
	for (size_t n = 0; refused > 0; n++) {
		drawn_restart(5, 20, 40);
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
	}
}

/* A screen with frozen lines. If memory is short, they are not frozen. */
static void init_frozen(size_t n)
{
	drawn_restart(24, 20, 60);
	fill("\x1b[31mx\xe4\xbd\xa0 and so on, for more than a line\x1b[m\r\n");
	shortage_after(n);
	scrollback_freeze(&d.screen->scrollback, 2, 300, UINT_MAX);
}

Test(screen_shortage, freezing_without_memory_changes_nothing)
{
	size_t refused = 1;
	for (size_t n = 0; refused > 0; n++) {
		init_frozen(n);
		refused = shortage_over();
		drawn_check(&d);
		struct drawn short_of_memory = d;
		d.screen = NULL;
		init_frozen(SIZE_MAX);
		shortage_over();
		drawn_same_scrollback(short_of_memory.screen, d.screen, true);
		drawn_finish(&short_of_memory);
	}
}

enum reading { SNAPSHOT, TEXT, LINES, SEARCH, READINGS };

static int read_lines(const struct screen *s)
{
	struct render *r;
	struct render_line line;
	int rc = render_create(&r, s, &(struct render_options){.to = UINT64_MAX});
	if (rc < 0)
		return rc;
	do
		rc = render_next(r, &line);
	while (rc > 0);
	render_destroy(r);
	return rc;
}

static int read_frozen(struct screen *s, enum reading how, struct pattern *pattern)
{
	struct snapshot snapshot = {0};
	struct rendered rendered = {0};
	struct search search = {.pattern = pattern, .limit = 1000, .work = UINT64_MAX};
	int rc = 0;
	switch (how) {
	case SNAPSHOT:
		rc = screen_snapshot(s, 100, &snapshot);
		free(snapshot.bytes);
		break;
	case TEXT:
		rc = render_lines(s, RENDER_TEXT,
			&(struct render_options){.to = UINT64_MAX, .max = SIZE_MAX}, &rendered);
		free(rendered.bytes);
		break;
	case LINES:
		return read_lines(s);
	default:
		rc = search_screen(&search, s, SEARCH_NO_LINE);
		cr_expect(rc < 0 || search.count > 40);
		search_finish(&search);
	}
	return rc;
}

/* Lines that could not be read must not be taken for empty lines. */
Test(screen_shortage, reading_frozen_lines_without_memory_is_an_error)
{
	struct pattern *pattern;
	const char *problem;
	cr_assert_eq(pattern_create(&pattern, "so on", 5, 0, &problem), 0);
	for (enum reading how = 0; how < READINGS; how++) {
		size_t refused = 1;
		for (size_t n = 0; refused > 0; n++) {
			init_frozen(SIZE_MAX);
			cr_assert_gt(d.screen->scrollback.frozen_lines, 30);
			shortage_after(n);
			int rc = read_frozen(d.screen, how, pattern);
			refused = shortage_over();
			cr_expect_eq(rc, refused > 0 ? -ENOMEM : 0, "%d, %zu", (int)how, n);
			cr_expect_eq(read_frozen(d.screen, how, pattern), 0);
		}
	}
	pattern_destroy(pattern);
}

/* Output that changes or drops frozen lines. It reads blocks for that. */
static const struct reaching {
	const char *what;
	unsigned cols;
	const char *before, *text;
} reaching[] = {
	{"ED 1", 20, "\x1b[31mx\xe4\xbd\xa0 and so on, for more than a line\x1b[m\r\n",
		"\x1b[2;20Hx\x1b[1J\x1b[3;20Hx\x1b[1J\x1b[4;20Hx\x1b[1J"},
	{"more bytes than the limit", 400, "\x1b[31ma\x1b[32mb\x1b[33mc\x1b[34md",
		"\x1b[31ma\x1b[32mb\x1b[33mc\x1b[34md\r\n\x1b[99b\r\n\x1b[500b\r\n"
		"\x1b[24;400Hx\x1b[10S"},
};

/* The blocks that output has read are not kept, and a failure to read them is not reported to later readers. */
Test(screen_shortage, output_that_changes_frozen_lines_keeps_no_blocks)
{
	for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++) {
		size_t refused = 1;
		for (size_t n = 0; refused > 0; n++) {
			drawn_restart(24, reaching[i].cols, 60);
			fill(reaching[i].before);
			cr_assert_gt(scrollback_freeze(&d.screen->scrollback, 2, 300, UINT_MAX), 2);
			scrollback_drop_cache(&d.screen->scrollback);
			char *copy = strdup(reaching[i].text);
			shortage_after(n);
			for (size_t at = 0, end = strlen(copy); at < end;)
				at += screen_feed(d.screen, copy + at, end - at, SIZE_MAX);
			refused = shortage_over();
			size_t held = scrollback_memory(&d.screen->scrollback);
			free(copy);
			cr_expect_gt(d.screen->scrollback.frozen_lines, 0);
			cr_expect(scrollback_is_whole(&d.screen->scrollback), "%s, %zu",
				reaching[i].what, n);
			scrollback_drop_cache(&d.screen->scrollback);
			cr_expect_eq(scrollback_memory(&d.screen->scrollback), held, "%s, %zu",
				reaching[i].what, n);
		}
	}
}
