/* Sizes of images, their cells, and what snapshots say of them. */
#include "ring/screen/image_size.h"

#include "ring/screen/view/render.h"
#include "ring/screen/view/snapshot.h"
#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>

/* Files of 8 by 16 (PNG), 300 by 200 (GIF) and 640 by 480 pixels (JPEG), as far as sizes need them. */
#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAQ"
#define GIF "R0lGODlhLAHIAPAAAP8AAAAAACH5BAAA"
#define JPEG "/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAHgAoADASIAAhEBAxEB"

static void set_up(void)
{
	drawn_restart(4, 10, 100);
}

TestSuite(image, .init = set_up, .fini = drawn_tear_down, .timeout = 60);

/* "width x height", or "-". */
static const char *text_of(bool found, struct image_size size)
{
	static char text[40];
	snprintf(text, sizeof text, found ? "%u x %u" : "-", size.width, size.height);
	return text;
}

Test(image, size_of_sixel_graphics)
{
	static const struct {
		const char *data, *want;
	} rows[] = {
		{"\"1;1;30;40#0;2;0;0;0~", "30 x 40"},
		{"\"1;1;30;40", "30 x 40"},
		{"\"1;1", "-"},
		{"\"1;1#1~~", "2 x 6"},
		{"\"1;1;0;9~~", "2 x 6"},
		{"~~\"1;1;30;40", "2 x 6"},
		{"#1~~~$#2~~-~~~~~$", "5 x 12"},
		{"!100~", "100 x 6"},
		{"!100~!3?", "103 x 6"},
		{"!~", "-"},
		{"!", "-"},
		{"", "-"},
		{"---", "-"},
		{"--~", "1 x 18"},
		{"~---", "1 x 6"},
		{"!4096~", "4096 x 6"},
		{"!4097~", "-"},
		{"!1\n0~!\r2\x7f~", "12 x 6"},
		{"\"1;\n1;3\n0;4\t0", "30 x 40"},
		{"\"0000000000000000000000000000000000000000000000000000000000000000000001;1;30;40",
			"30 x 40"},
		{"\"1;1;30;40;50;60", "30 x 40"},
		{"\"1;1;30;40\xc3\x9c", "-"},
		{"!99999999999999999999~!99999999999999999999~", "-"},
		{"\"1;1;4096;4097", "-"},
		{"\"1;1;4096;4096", "4096 x 4096"},
		{"\"1;1;4294967297;1", "-"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct image_size size;
		bool found = image_size_sixel(rows[i].data, strlen(rows[i].data), &size);
		cr_expect_str_eq(text_of(found, size), rows[i].want, "%s", rows[i].data);
	}
}

Test(image, size_of_files)
{
	static const struct {
		const char *data, *want;
	} rows[] = {
		{"File=inline=1:" PNG, "8 x 16"},
		{"File=name=eA==;size=9;inline=1:" PNG, "8 x 16"},
		{"File=inline=1:" GIF, "300 x 200"},
		{"File=inline=1:" JPEG, "640 x 480"},
		{"File=name=\xc3\x9c;inline=1:" PNG, "-"},
		{"File=inline=1;inline=0:" PNG, "-"},
		{"File=inline=1;width==4:" PNG, "8 x 16"},
		{"File=inline=0:" PNG, "-"},
		{"File=:" PNG, "-"},
		{"File=inline=1", "-"},
		{"File=inline=1:", "-"},
		{"File=inline=1:iVBORw0KGgoAAAANSUhEUgAAAAgAAAA", "-"},
		{"File=inline=1:iVBORw0KGgoAAAANSUhEUg AAAAgAAAAQ", "-"},
		{"File=inline=1:/9j/wAARCAHg", "-"},
		{"File=inline=1:/9j/4AAA", "-"},
		{"File=inline=1:aGVsbG8gd29ybGQ=", "-"},
		{"MultipartFile=inline=1:" PNG, "-"},
		{"FilePart=" PNG, "-"},
		{"File=inline=1;width=4:" PNG, "32 x 64"},
		{"File=inline=1;height=4:" PNG, "32 x 64"},
		{"File=inline=1;width=20px:" PNG, "20 x 40"},
		{"File=inline=1;width=50%:" PNG, "320 x 640"},
		{"File=inline=1;height=50%:" PNG, "96 x 192"},
		{"File=inline=1;width=4;height=4:" PNG, "32 x 64"},
		{"File=inline=1;width=4;height=4;preserveAspectRatio=0:" PNG, "32 x 64"},
		{"File=inline=1;width=4;height=8;preserveAspectRatio=0:" PNG, "32 x 128"},
		{"File=inline=1;width=4;height=8:" PNG, "32 x 64"},
		{"File=inline=1;width=auto;height=auto:" PNG, "8 x 16"},
		{"File=inline=1;width=81:" PNG, "640 x 1280"},
		{"File=inline=1;width=200%;height=1;preserveAspectRatio=0:" PNG, "640 x 8"},
		{"File=inline=1;width=x;height=-1:" PNG, "8 x 16"},
		{"File=inline=1;width=99999999999999999999px:" PNG, "640 x 1280"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct image_size size;
		bool found = image_size_file(rows[i].data, strlen(rows[i].data), 80, 24, &size);
		cr_expect_str_eq(text_of(found, size), rows[i].want, "%s", rows[i].data);
	}
}

/* "row from first of offset+length, width x height" of the image in a cell, or "". */
static const char *image_at(const struct drawn *from, unsigned y, unsigned x)
{
	static char text[200];
	struct screen_image image;
	*text = '\0';
	if (screen_image_of(from->screen, drawn_style_at(from, y, x), &image))
		snprintf(text, sizeof text, "%u from %u of %llu+%llu, %u x %u", image.row,
			image.first, (unsigned long long)image.offset,
			(unsigned long long)image.length, image.width, image.height);
	return text;
}

Test(image, cells_are_spaces_below_each_other)
{
	drawn_type(&d, "ab\x1bPq\"1;1;17;20\x1b\\");
	drawn_expect_cursor(1, 2);
	cr_expect_str_eq(drawn_row(&d, 0), "ab   ");
	cr_expect_str_eq(image_at(&d, 0, 1), "");
	cr_expect_str_eq(image_at(&d, 0, 2), "0 from 2 of 2+14, 17 x 20");
	cr_expect_str_eq(image_at(&d, 1, 4), "1 from 2 of 2+14, 17 x 20");
	cr_expect_str_eq(image_at(&d, 1, 5), "");
	drawn_type(&d, "x\x1b[K");
	cr_expect_str_eq(image_at(&d, 1, 2), "", "text replaces it");
	cr_expect_str_eq(image_at(&d, 1, 3), "");
	cr_expect_str_eq(image_at(&d, 0, 3), "0 from 2 of 2+14, 17 x 20");
	cr_expect_eq(d.screen->pen.flags, 0);
}

Test(image, file_is_followed_by_text)
{
	drawn_type(&d, "\x1b[31mab\rc\x1b[4h\x1b]1337;File=inline=1;width=3:" PNG "\a!");
	cr_expect_str_eq(drawn_row(&d, 0), "c   ");
	cr_expect_str_eq(image_at(&d, 2, 1), "2 from 1 of 13+62, 24 x 48");
	drawn_expect_cursor(2, 5);
	cr_expect_str_eq(drawn_row(&d, 2), "    !");
	cr_expect_eq(d.screen->pen.fg, COLOR_BASIC | 1);
	cr_expect(d.screen->modes.insert);
}

Test(image, edge_cuts_it_and_the_screen_scrolls)
{
	drawn_type(&d, "\x1b[4;9H\x1bPq\"1;1;800;100\x1b\\");
	drawn_expect_cursor(3, 8);
	cr_expect_eq(screen_scrollback(d.screen), 6);
	cr_expect_str_eq(image_at(&d, 3, 9), "6 from 8 of 6+16, 800 x 100");
	drawn_type(&d, "\x1b]1337;File=inline=1;width=9;height=1;preserveAspectRatio=0:" PNG "\a");
	drawn_expect_cursor(3, 10);
	drawn_type(&d, "x");
	drawn_expect_cursor(3, 1);
}

Test(image, nothing_else_draws_cells)
{
	drawn_type(&d,
		"\x1bPq\x1b\\\x1bP$q~\x1b\\\x1bP?q~~~\x1b\\\x1b]1337;File=inline=1:eA==\a\x1b]7007;i0,9,8,8,0,0,3\a");
	drawn_expect_cursor(0, 0);
	cr_expect_str_eq(drawn_row(&d, 0), "");
}

Test(image, text_and_html_omit_it)
{
	static const enum render_format formats[] = {RENDER_TEXT, RENDER_ANSI};
	drawn_type(&d, "a\x1bPq\"1;1;17;20\x1b\\");
	for (size_t i = 0; i < 2; i++) {
		struct rendered rendered;
		const struct render_options all = {.to = UINT64_MAX, .max = SIZE_MAX};
		cr_assert_eq(render_lines(d.screen, formats[i], &all, &rendered), 0);
		cr_expect(strncmp(rendered.bytes, "a\n\n", 3) == 0, "%s", rendered.bytes);
		free(rendered.bytes);
	}
}

static struct drawn other;

static void expect_in_snapshot(int (*take)(struct screen *s, unsigned lines, struct snapshot *ret),
	const char *want, unsigned count)
{
	struct snapshot snapshot;
	unsigned found = 0;
	cr_assert_eq(take(d.screen, 100, &snapshot), 0);
	const char *at = snapshot.bytes, *end = at + snapshot.length;
	for (; (at = memmem(at, (size_t)(end - at), want, strlen(want))); at++)
		found++;
	cr_expect_eq(found, count, "%s: %u times", want, found);
	free(snapshot.bytes);
}

Test(image, snapshots_name_the_bytes)
{
	drawn_type(&d, "\x1bPq\"1;1;17;100\x1b\\\r\nbelow\r\n");
	expect_in_snapshot(screen_marked_snapshot, "\033]7007;i0,15,17,100,", 7);
	expect_in_snapshot(screen_marked_snapshot, "\033]7007;i0,15,17,100,6,0,3\a", 1);
	expect_in_snapshot(screen_snapshot, "7007", 0);
}

Test(image, checkpoint_restores_it)
{
	struct snapshot snapshot;
	drawn_type(&d,
		"1\r\n\x1b[31m2\x1bPq\"1;1;17;100\x1b\\\x1b[3;2HX\x1b[4;4H"
		"\x1b]1337;File=inline=1;width=100%;height=1;preserveAspectRatio=0:" PNG "\a");
	cr_assert_eq(screen_checkpoint(d.screen, 100, &snapshot), 0);
	drawn_init(&other, 4, 10, 100);
	screen_restore(other.screen, snapshot.bytes, snapshot.length);
	free(snapshot.bytes);
	drawn_same_rows(d.screen, &d.screen->primary, other.screen, &other.screen->primary, false);
	drawn_same_scrollback(d.screen, other.screen, false);
	for (unsigned y = 0; y < 4; y++)
		for (unsigned x = 0; x < 10; x++) {
			char want[200];
			snprintf(want, sizeof want, "%s", image_at(&d, y, x));
			cr_expect_str_eq(image_at(&other, y, x), want, "row %u, column %u", y, x);
		}
	cr_expect_str_neq(image_at(&other, 1, 2), "");
	drawn_finish(&other);
}

Test(image, link_of_the_pen_stays)
{
	size_t length;
	drawn_restart(24, 80, 1000);
	drawn_type(&d, "\x1b]8;id=kept;http://a\a");
	for (unsigned i = 0; i < 4; i++)
		drawn_type(&d, "\x1bPq\"1;1;9;4000\x1b\\\x1bPq\"1;1;10;4000\x1b\\");
	const char *link = intern_get(&d.screen->links, d.screen->pen.link, &length);
	cr_assert(link && length == strlen("ikept") + 1 + strlen("http://a"));
	cr_expect_str_eq(link, "ikept");
}

Test(image, large_one_does_not_grow_the_screen)
{
	drawn_restart(24, 1000, 1000);
	for (unsigned i = 0; i < 300; i++)
		drawn_type(&d, "\x1bPq\"1;1;8000;2000\x1b\\");
	cr_expect_leq(d.screen->styles.count, 5000);
	cr_expect_leq(screen_memory(d.screen), 24u << 20);
}
