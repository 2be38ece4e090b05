/* Lines in bulk give the same screen as their bytes one by one. */
#include "tests/lib/drawn_check.h"
#include "tests/lib/drawn_same.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>

#define STREAM_BYTES ((size_t)24 << 10)
#define PIECES_MAX 40u

static struct {
	char bytes[STREAM_BYTES + 256];
	size_t length;
} t;

static void put(const char *bytes)
{
	size_t n = strlen(bytes);
	memcpy(t.bytes + t.length, bytes, n);
	t.length += n;
}

/* What the lines are made of. */
static const char *const usual[] = {"a", "word ", "some more text", "   ", "\t", "\t\t", "\x1b[31m",
	"\x1b[0m", "\x1b[m", "\x1b[1;4;38;5;200m", "\x1b[44m", "\x1b[49m", "\x1b[7m",
	"\x1b[48;2;1;2;3m", "é", "→", "日本", "終", "🚀", "─────", "e\xcc\x81",
	"\xe2\x9c\x94\xef\xb8\x8f", "👩\xe2\x80\x8d💻", "終\xcc\x81\xcc\x82",
	"ab\xcc\x81\xcc\x81\xcc\x81", "\x1b[K", "\x1b]8;;http://a/b\a", "\x1b]8;;\x1b\\",
	"\x1b]8;id=x;http://c\x1b\\",
	"a line of text that is longer than some screens are wide, and goes on",
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

/* How the lines end. */
static const char *const unusual[] = {"\b", "\a", "\x1b[K", "\x1b[2J", "\x1b[H", "\x1b[3;9r",
	"\x1b[r", "\xcc\x81", "\t\xcc\x81", "\x1b[m\xcc\x81", "\x1b[1K", "\x1b]8;;\x18",
	"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc"
	"\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc"
	"\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	"\x1b]0;title\a", "\x0e", "\x0f", "\x1b(0", "\x1b(B", "\x1b[4h", "\x1b[4l", "\x1b[?7l",
	"\x1b[?7h", "\x1b[?1049h", "\x1b[?1049l", "\x1b[20h", "\x1b[20l", "\xff", "\xc3",
	"\xc2\x85", "\xef\xbb\xbf", "\x7f", "\x1b[5b", "\r", "\n", "\v", "\x1b[3g", "\x1bH",
	"\x1b[1;\nm", "\x1b[4:3m", "\x1b[123456m", "\x1b[999C", "\x1b\"pq"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct drawn whole, each; /* the text at once, and byte by byte */

static void finish(void)
{
	drawn_finish(&whole);
	drawn_finish(&each);
}

TestSuite(screen_bulk, .fini = finish);

static const char *const ends[] = {"\r\n", "\r\n", "\r\n", "\r\r\n"};

/* One line in `odd` has an unusual sequence; 0: no line. */
static void make_text(struct random *r, unsigned odd)
{
	t.length = 0;
	while (t.length < STREAM_BYTES - 4096) {
		unsigned pieces = (unsigned)random_below(r, random_below(r, 4) ? 8 : PIECES_MAX);
		while (pieces-- > 0)
			put(usual[random_below(r, COUNT(usual))]);
		if (odd > 0 && random_below(r, odd) == 0)
			put(unusual[random_below(r, COUNT(unusual))]);
		put(ends[random_below(r, COUNT(ends))]);
	}
}

static void feed_each(struct drawn *d)
{
	for (size_t i = 0; i < t.length; i++)
		drawn_feed(d, t.bytes + i, 1, SIZE_MAX);
}

static void feed_pieces(struct drawn *d, struct random *r)
{
	for (size_t at = 0; at < t.length;) {
		size_t n = 1 + (size_t)random_below(r, 9000);
		n = n < t.length - at ? n : t.length - at;
		drawn_feed(d, t.bytes + at, n, 1 + (size_t)random_below(r, 4000));
		at += n;
	}
}

static void compare(struct random *r, unsigned odd, unsigned rows, unsigned cols, unsigned lines)
{
	struct drawn drawn[3];
	for (int i = 0; i < 3; i++)
		drawn_init(&drawn[i], rows, cols, lines);
	for (int i = 0; i < 3; i++) {
		make_text(r, odd);
		feed_each(&drawn[0]);
		drawn_feed(&drawn[1], t.bytes, t.length, SIZE_MAX);
		feed_pieces(&drawn[2], r);
		for (int k = 0; k < 3; k++)
			drawn_check(&drawn[k]);
		drawn_expect_same(&drawn[0], &drawn[1]);
		drawn_expect_same(&drawn[0], &drawn[2]);
	}
	for (int i = 0; i < 3; i++)
		drawn_finish(&drawn[i]);
}

static void compare_sizes(unsigned odd)
{
	struct random r = {.state = 11 + odd};
	for (unsigned i = 0; i < 24; i++) {
		unsigned rows = 1 + (unsigned)random_below(&r, i % 3 ? 8 : 40);
		unsigned cols = 2 + (unsigned)random_below(&r, i % 2 ? 20 : 150);
		compare(&r, odd, rows, cols, (unsigned)random_below(&r, i % 4 ? 40 : 2000));
	}
}

/* The bottom row is blank and old, and the pen has got another background since. */
Test(screen_bulk, starts_in_an_old_row)
{
	struct random r = {.state = 5};
	drawn_init(&whole, 5, 30, 1000);
	drawn_init(&each, 5, 30, 1000);
	t.length = 0;
	put("first\r\n\x1b[2J\x1b[99Hx\x1b[2Kmore\x1b[1;1H\x1b[5;1H\x1b[2K\x1b[44m");
	drawn_feed(&whole, t.bytes, t.length, SIZE_MAX);
	feed_each(&each);
	make_text(&r, 0);
	drawn_feed(&whole, t.bytes, t.length, SIZE_MAX);
	feed_each(&each);
	drawn_expect_same(&whole, &each);
	for (unsigned i = 0; i < screen_scrollback(whole.screen); i++)
		cr_assert_eq(scrollback_get(&whole.screen->scrollback, i)->offset,
			scrollback_get(&each.screen->scrollback, i)->offset);
}

Test(screen_bulk, lines_of_text)
{
	compare_sizes(0);
}

Test(screen_bulk, lines_with_a_few_other_sequences)
{
	compare_sizes(50);
}

Test(screen_bulk, lines_with_many_other_sequences)
{
	compare_sizes(4);
}

/* Work for a number of short lines that come at once. */
static size_t measure_work(unsigned scrollback, unsigned lines)
{
	struct drawn d;
	drawn_init(&d, 24, 80, scrollback);
	char *bytes = malloc(lines * 3u + 24 * 2);
	size_t length = 0;
	for (unsigned i = 0; i < 24; i++)
		memcpy(bytes + 2 * length++, "\r\n", 2);
	length *= 2;
	drawn_feed(&d, bytes, length, SIZE_MAX);
	for (unsigned i = 0; i < lines; i++)
		memcpy(bytes + 3 * i, "y\r\n", 3);
	cr_assert_eq(screen_feed(d.screen, bytes, lines * 3u, SIZE_MAX), lines * 3u);
	size_t work = screen_work(d.screen);
	cr_assert_eq(screen_scrollback(d.screen), scrollback);
	cr_assert_eq(screen_dropped(d.screen) + scrollback, lines + 1);
	drawn_finish(&d);
	free(bytes);
	return work;
}

/* Lines that are printed one by one touch a whole row each. */
Test(screen_bulk, costs_less_than_printing)
{
	size_t all = measure_work(10000, 12000), most_passed = measure_work(100, 12000);
	cr_assert_lt(all, 12000 * 30, "%zu", all);
	cr_assert_lt(most_passed, 12000 * 5, "%zu", most_passed);
}

/* More styles than the table holds: a style that a line uses is never dropped. */
Test(screen_bulk, more_styles_than_the_table_holds)
{
	drawn_init(&whole, 4, 40, 50);
	drawn_init(&each, 4, 40, 50);
	for (unsigned n = 0; n < 300000;) {
		t.length = 0;
		while (t.length < STREAM_BYTES - 256) {
			char line[96];
			snprintf(line, sizeof line, "\x1b[38;2;%u;%u;%um%u\x1b[48;5;%um%u\x1b[m\r\n",
				n >> 16, n >> 8 & 255, n & 255, n, n % 256, n);
			put(line);
			n++;
		}
		drawn_feed(&whole, t.bytes, t.length, SIZE_MAX);
		feed_each(&each);
	}
	drawn_expect_same(&whole, &each);
}
