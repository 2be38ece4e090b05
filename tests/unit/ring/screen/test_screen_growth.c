/* Time and memory that output can cost. */
#include "tests/lib/drawn_test.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

TestSuite(screen_work, DRAWN_SUITE);
TestSuite(screen_growth, DRAWN_SUITE);

/* How many bytes of a repeated sequence one call consumes. */
static size_t measure_consumed(const char *sequence, unsigned times, size_t work)
{
	size_t length = strlen(sequence);
	char *bytes = malloc(length * times);
	for (unsigned i = 0; i < times; i++)
		memcpy(bytes + i * length, sequence, length);
	size_t consumed = screen_feed(d.screen, bytes, length * times, work);
	free(bytes);
	return consumed;
}

Test(screen_work, bounds_a_call)
{
	static const char *const sequences[] = {"\x1b#8", "\x1b[2J", "\x1b[S", "\x1b[T",
		"\x1b[H\x1b[L", "\x1b[M", "x\x1b[99999b", "\x1b[?1049h\x1b[?1049l", "\x1b[ @", "\n",
		"\x1b[H\x1bM", "\033c", "\x1b[@", "\x1b[K"};
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		drawn_restart(100, 200, 100);
		size_t consumed = measure_consumed(sequences[i], 20000, 200000);
		cr_expect_geq(consumed, 1);
		cr_expect_leq(consumed, 20000 * strlen(sequences[i]) / 2, "%s: %zu",
			sequences[i] + 1, consumed);
		cr_expect_leq(d.screen->work, 200000 + drawn_slack(d.screen));
	}
}

Test(screen_work, call_consumes_at_least_one_byte)
{
	cr_expect_eq(screen_feed(d.screen, "\x1b[2J", 4, 0), 4);
	cr_expect_geq(screen_feed(d.screen, "x\x1b[2J", 5, 1), 1);
	cr_expect_eq(screen_feed(d.screen, "", 0, 1), 0);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t heap_before;

static void grow(unsigned cols, unsigned scrollback)
{
	drawn_tear_down();
	heap_before = drawn_heap_used();
	drawn_restart(24, cols, scrollback);
}

/* Feed a sequence. Unlike drawn_feed() it allocates nothing. */
__attribute__((format(printf, 1, 2))) static void feed(const char *format, ...)
{
	static char text[SCREEN_LINK_MAX + SCREEN_TITLE_MAX + 64];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	screen_feed(d.screen, text, (size_t)length, SIZE_MAX);
}

static void expect_bounded(size_t most)
{
	size_t used = drawn_heap_used() - heap_before;
	cr_expect_lt(used, most, "%zu bytes of heap", used);
	cr_expect_lt(screen_memory(d.screen), most, "%zu", screen_memory(d.screen));
}

Test(screen_growth, a_million_styles_on_the_same_cell)
{
	grow(80, 1000);
	for (unsigned i = 0; i < 1000000; i++)
		feed("\r\x1b[38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
	expect_bounded(MIB);
}

Test(screen_growth, a_million_styles_in_the_scrollback)
{
	grow(80, SCREEN_SCROLLBACK_DEFAULT);
	for (unsigned i = 0; i < 1000000; i++)
		feed("\x1b[38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
	cr_expect_leq(d.screen->styles.count, SCREEN_STYLES_MAX);
	/* The newest style is right. */
	cr_expect_eq(drawn_style_at(&d, 23, 0)->fg & COLOR_MODE, COLOR_RGB);
	expect_bounded(64 * MIB);
}

/* A table that is almost full must not be swept for each new style. */
Test(screen_growth, short_lived_styles_beside_many_others)
{
	grow(80, SCREEN_SCROLLBACK_DEFAULT);
	struct screen *s = d.screen;
	unsigned i = 0;
	while (s->styles.count + 8 < SCREEN_STYLES_MAX && i < 2 * SCREEN_STYLES_MAX) {
		feed("\x1b[38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
		i++;
	}
	double begin = seconds();
	for (unsigned n = 0; n < 20000; n++, i++)
		feed("\r\x1b[48;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
	/* One sweep per style would take minutes. */
	cr_expect_lt(seconds() - begin, 10.0);
	expect_bounded(64 * MIB);
}

Test(screen_growth, a_million_links)
{
	grow(80, SCREEN_SCROLLBACK_DEFAULT);
	for (unsigned i = 0; i < 1000000; i++)
		feed("\x1b]8;;http://a/%u\ax", i);
	expect_bounded(64 * MIB);
}

Test(screen_growth, long_links)
{
	grow(80, SCREEN_SCROLLBACK_DEFAULT);
	for (unsigned i = 0; i < 20000; i++)
		feed("\x1b]8;;http://a/%u/%0*d\ax", i, (int)SCREEN_LINK_MAX - 64, 0);
	expect_bounded(64 * MIB);
}

Test(screen_growth, many_combining_marks)
{
	grow(80, SCREEN_SCROLLBACK_DEFAULT);
	struct random r = {5};
	for (unsigned i = 0; i < 100000; i++) {
		char text[256];
		size_t length = 0;
		text[length++] = 'x';
		for (unsigned k = 0; k < 40; k++)
			length += utf8_encode(
				0x300 + (uint32_t)random_below(&r, 0x70), (uint8_t *)text + length);
		screen_feed(d.screen, text, length, SIZE_MAX);
	}
	expect_bounded(64 * MIB);
}

Test(screen_growth, titles_and_icons)
{
	grow(80, 100);
	for (unsigned i = 0; i < 3000; i++) {
		feed("\x1b]0;%u%0*d\a\x1b[22;0t", i, (int)SCREEN_TITLE_MAX, 0);
		drawn_clear(&d.events);
	}
	expect_bounded(MIB);
}

Test(screen_growth, palettes)
{
	grow(80, 100);
	for (unsigned i = 0; i < 100000; i++)
		feed("\x1b]4;%u;#%06x\a", i, i);
	expect_bounded(MIB);
}

Test(screen_growth, kitty_stacks)
{
	grow(80, 100);
	drawn_type_many(&d, "\x1b[>31u", 10000);
	cr_expect_eq(d.screen->primary.kitty.count, SCREEN_KITTY_MAX);
	drawn_type(&d, "\x1b[<2147483647u");
	cr_expect_eq(screen_modes(d.screen)->kitty_flags, 0);
	expect_bounded(MIB);
}

Test(screen_growth, lone_marks_use_no_memory)
{
	grow(80, 100);
	/* A control before each mark, so that it joins no cell. */
	for (unsigned i = 0; i < 100000; i++)
		screen_feed(d.screen, "\xcc\x81", 3, SIZE_MAX);
	drawn_check(&d);
	drawn_type(&d, "x");
	expect_bounded(MIB);
}

Test(screen_growth, full_scrollback_of_wide_lines)
{
	grow(1000, 2000);
	struct random r = {9};
	for (unsigned i = 0; i < 400000; i++)
		feed("\x1b[38;5;%um\xf0\x9f\x98\x80"
		     "e\xcc\x81\xe4\xbd\xa0",
			(unsigned)random_below(&r, 256));
	cr_expect_leq(d.screen->scrollback.bytes, 2000 * SCROLLBACK_LINE_BYTES);
	expect_bounded(8 * MIB);
}
