/* Time and memory that output can cost. */
#include "tests/lib/drawn_test.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

/* How many bytes of a repeated sequence one call consumes. */
static size_t measure_consumed(struct drawn *d, const char *sequence, unsigned times, size_t work)
{
	size_t length = strlen(sequence);
	char *bytes = malloc(length * times);
	for (unsigned i = 0; i < times; i++)
		memcpy(bytes + i * length, sequence, length);
	size_t consumed = screen_feed(d->screen, bytes, length * times, work);
	free(bytes);
	return consumed;
}

Test(screen_work, bounds_a_call)
{
	static const char *const sequences[] = {"\x1b#8", "\x1b[2J", "\x1b[S", "\x1b[T",
		"\x1b[H\x1b[L", "\x1b[M", "x\x1b[99999b", "\x1b[?1049h\x1b[?1049l", "\x1b[ @", "\n",
		"\x1b[H\x1bM",
		"\x1b"
		"c",
		"\x1b[@", "\x1b[K"};
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		struct drawn d;
		drawn_start(&d, 100, 200);
		size_t consumed = measure_consumed(&d, sequences[i], 20000, 200000);
		cr_expect_geq(consumed, 1);
		cr_expect_leq(consumed, 20000 * strlen(sequences[i]) / 2, "%s: %zu",
			sequences[i] + 1, consumed);
		cr_expect_leq(d.screen->work, 200000 + drawn_slack(d.screen));
		drawn_end(&d);
	}
}

Test(screen_work, call_consumes_at_least_one_byte)
{
	struct drawn d;
	drawn_start(&d, 4, 8);
	cr_expect_eq(screen_feed(d.screen, "\x1b[2J", 4, 0), 4);
	cr_expect_geq(screen_feed(d.screen, "x\x1b[2J", 5, 1), 1);
	cr_expect_eq(screen_feed(d.screen, "", 0, 1), 0);
	drawn_end(&d);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct growth {
	struct drawn d;
	size_t before;
};

static void grow(struct growth *g, unsigned scrollback)
{
	g->before = drawn_heap_used();
	drawn_init(&g->d, 24, 80, scrollback);
}

static void expect_bounded(struct growth *g, size_t most)
{
	size_t used = drawn_heap_used() - g->before;
	cr_expect_lt(used, most, "%zu bytes of heap", used);
	cr_expect_lt(screen_memory(g->d.screen), most, "%zu", screen_memory(g->d.screen));
	drawn_end(&g->d);
}

Test(screen_growth, a_million_styles_on_the_same_cell, .timeout = 60)
{
	struct growth g;
	grow(&g, 1000);
	char text[64];
	for (unsigned i = 0; i < 1000000; i++) {
		int length = snprintf(text, sizeof text, "\r\x1b[38;2;%u;%u;%um.", i >> 16,
			i >> 8 & 255, i & 255);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	expect_bounded(&g, MIB);
}

Test(screen_growth, a_million_styles_in_the_scrollback, .timeout = 60)
{
	struct growth g;
	grow(&g, SCREEN_SCROLLBACK_DEFAULT);
	char text[64];
	for (unsigned i = 0; i < 1000000; i++) {
		int length = snprintf(
			text, sizeof text, "\x1b[38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	cr_expect_leq(g.d.screen->styles.count, SCREEN_STYLES_MAX);
	/* The newest style is right. */
	cr_expect_eq(drawn_style_at(&g.d, 23, 0)->fg & COLOR_MODE, COLOR_RGB);
	expect_bounded(&g, 64 * MIB);
}

/* A table that is almost full must not be swept for each new style. */
Test(screen_growth, short_lived_styles_beside_many_others, .timeout = 120)
{
	struct growth g;
	grow(&g, SCREEN_SCROLLBACK_DEFAULT);
	struct screen *s = g.d.screen;
	char text[64];
	unsigned i = 0;
	while (s->styles.count + 8 < SCREEN_STYLES_MAX && i < 2 * SCREEN_STYLES_MAX) {
		int length = snprintf(
			text, sizeof text, "\x1b[38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
		screen_feed(s, text, (size_t)length, SIZE_MAX);
		i++;
	}
	double begin = seconds();
	for (unsigned n = 0; n < 20000; n++, i++) {
		int length = snprintf(text, sizeof text, "\r\x1b[48;2;%u;%u;%um.", i >> 16,
			i >> 8 & 255, i & 255);
		screen_feed(s, text, (size_t)length, SIZE_MAX);
	}
	/* One sweep per style would take minutes. */
	cr_expect_lt(seconds() - begin, 10.0);
	expect_bounded(&g, 64 * MIB);
}

Test(screen_growth, a_million_links, .timeout = 60)
{
	struct growth g;
	grow(&g, SCREEN_SCROLLBACK_DEFAULT);
	char text[64];
	for (unsigned i = 0; i < 1000000; i++) {
		int length = snprintf(text, sizeof text, "\x1b]8;;http://a/%u\ax", i);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	expect_bounded(&g, 64 * MIB);
}

Test(screen_growth, long_links, .timeout = 60)
{
	struct growth g;
	grow(&g, SCREEN_SCROLLBACK_DEFAULT);
	static char text[SCREEN_LINK_MAX + 64];
	for (unsigned i = 0; i < 20000; i++) {
		int length = snprintf(text, sizeof text, "\x1b]8;;http://a/%u/%0*d\ax", i,
			(int)SCREEN_LINK_MAX - 64, 0);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	expect_bounded(&g, 64 * MIB);
}

Test(screen_growth, many_combining_marks, .timeout = 60)
{
	struct growth g;
	grow(&g, SCREEN_SCROLLBACK_DEFAULT);
	struct random r = {5};
	for (unsigned i = 0; i < 100000; i++) {
		char text[256];
		size_t length = 0;
		text[length++] = 'x';
		for (unsigned k = 0; k < 40; k++)
			length += utf8_encode(
				0x300 + (uint32_t)random_below(&r, 0x70), (uint8_t *)text + length);
		screen_feed(g.d.screen, text, length, SIZE_MAX);
	}
	expect_bounded(&g, 64 * MIB);
}

Test(screen_growth, titles_and_icons)
{
	struct growth g;
	grow(&g, 100);
	static char text[SCREEN_TITLE_MAX + 64];
	for (unsigned i = 0; i < 3000; i++) {
		int length = snprintf(text, sizeof text, "\x1b]0;%u%0*d\a\x1b[22;0t", i,
			(int)SCREEN_TITLE_MAX, 0);
		drawn_clear(&g.d.events);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	expect_bounded(&g, MIB);
}

Test(screen_growth, palettes)
{
	struct growth g;
	grow(&g, 100);
	char text[64];
	for (unsigned i = 0; i < 100000; i++) {
		int length = snprintf(text, sizeof text, "\x1b]4;%u;#%06x\a", i, i);
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	expect_bounded(&g, MIB);
}

Test(screen_growth, kitty_stacks)
{
	struct growth g;
	grow(&g, 100);
	drawn_type_many(&g.d, "\x1b[>31u", 10000);
	cr_expect_eq(g.d.screen->primary.kitty.count, SCREEN_KITTY_MAX);
	drawn_type(&g.d, "\x1b[<2147483647u");
	cr_expect_eq(screen_modes(g.d.screen)->kitty_flags, 0);
	expect_bounded(&g, MIB);
}

Test(screen_growth, lone_marks_use_no_memory)
{
	struct growth g;
	grow(&g, 100);
	/* A control before each mark, so that it joins no cell. */
	for (unsigned i = 0; i < 100000; i++)
		screen_feed(g.d.screen, "\xcc\x81", 3, SIZE_MAX);
	drawn_check(&g.d);
	drawn_type(&g.d, "x");
	expect_bounded(&g, MIB);
}

Test(screen_growth, full_scrollback_of_wide_lines, .timeout = 60)
{
	struct growth g = {.before = drawn_heap_used()};
	drawn_init(&g.d, 24, 1000, 2000);
	struct random r = {9};
	for (unsigned i = 0; i < 400000; i++) {
		char text[64];
		int length = snprintf(text, sizeof text,
			"\x1b[38;5;%um\xf0\x9f\x98\x80"
			"e\xcc\x81\xe4\xbd\xa0",
			(unsigned)random_below(&r, 256));
		screen_feed(g.d.screen, text, (size_t)length, SIZE_MAX);
	}
	cr_expect_leq(g.d.screen->scrollback.bytes, 2000 * SCROLLBACK_LINE_BYTES);
	expect_bounded(&g, 8 * MIB);
}
