/* Tiles as bytes: at their place, and only text and numbers in them. */
#include "tests/lib/json_text.h"
#include "ws/client/wall/tile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void load(struct tile *t, const char *text)
{
	json_t *answer = json_of(text);
	cr_assert_eq(picture_update(&t->picture, answer, 0), 0);
	json_decref(answer);
}

/* The bytes, with ^ for escapes and without pens. */
static void show(struct canvas *p, char *seen, size_t size)
{
	size_t n = 0;
	cr_assert_not(p->failed);
	for (size_t i = 0; i < p->length; i++) {
		cr_assert_lt(n + 1, size);
		char c = p->bytes[i];
		if (c == '\033') {
			size_t last = i + 2;
			while (last < p->length && strchr("0123456789;", p->bytes[last]))
				last++;
			if (last < p->length && p->bytes[last] == 'm') {
				i = last;
				continue;
			}
		}
		cr_assert(c == '\033' || (unsigned char)c >= 0x20);
		seen[n++] = c == '\033' ? '^' : c;
	}
	seen[n] = '\0';
	canvas_finish(p);
}

#define LINES                                                                        \
	"{'rows':4,'cols':6,'version':1,'cursor':{'row':3,'col':0,'visible':false}," \
	"'lines':[{'row':0,'text':'one'},{'row':1,'text':'two'},"                    \
	"{'row':2,'text':'abc\xe6\xbc\xa2'},{'row':3,'text':'$'}]}"

Test(tile_paint, rows_up_to_the_cursor)
{
	struct tile t = {.id = "box", .words = "at its prompt", .attention = ATTENTION_IDLE};
	struct canvas p = {0};
	char seen[1024];
	load(&t, LINES);
	tile_paint(&p, &(struct rect){.x = 2, .y = 1, .cols = 8, .rows = 3}, &t, true);
	show(&p, seen, sizeof seen);
	cr_expect_str_eq(seen, "^[2;3H>box - a^[3;3Habc\xe6\xbc\xa2   ^[4;3H$       ", "%s", seen);
	tile_paint(&p, &(struct rect){.cols = 4, .rows = 6}, &t, false);
	show(&p, seen, sizeof seen);
	cr_expect_str_eq(
		seen, "^[1;1H box^[2;1Hone ^[3;1Htwo ^[4;1Habc ^[5;1H$   ^[6;1H    ", "%s", seen);
	picture_finish(&t.picture);
}

Test(tile_paint, names_and_states_are_text)
{
	struct tile t = {.id = "box",
		.name = "a\033]0;x\ab\xc2\x9b"
			"1m\xe2\x80\xae",
		.words = "\r\n\033[2Jx"};
	struct canvas p = {0};
	char seen[1024];
	tile_paint(&p, &(struct rect){.cols = 40, .rows = 1}, &t, false);
	show(&p, seen, sizeof seen);
	cr_expect_str_eq(seen, "^[1;1H box (a]0;xb1m) - [2Jx                  ", "%s", seen);
}

Test(tile_paint, too_small_tiles)
{
	struct tile t = {.id = "box"};
	struct canvas p = {0};
	load(&t, LINES);
	tile_paint(&p, &(struct rect){.cols = 0, .rows = 5}, &t, false);
	tile_paint(&p, &(struct rect){.cols = 5, .rows = 0}, &t, false);
	cr_expect_eq(p.length, 0);
	picture_finish(&t.picture);
}

Test(tile_paint, colours_and_the_cursor)
{
	struct tile t = {.id = "b"};
	struct canvas p = {0};
	load(&t,
		"{'rows':1,'cols':3,'version':1,'cursor':{'row':0,'col':2,'visible':true},'lines':"
		"[{'row':0,'cells':[{'column':0,'columns':2,'text':'ab','fg':9,'bg':'#010203',"
		"'bold':true,'underline':'curly'}]}]}");
	tile_paint(&p, &(struct rect){.cols = 3, .rows = 2}, &t, false);
	static const char row[] = "\033[2;1H\033[0;1;4;38;5;9;48;2;1;2;3mab\033[0;7m \033[m";
	cr_assert_geq(p.length, sizeof row - 1);
	cr_expect_eq(memcmp(p.bytes + p.length - (sizeof row - 1), row, sizeof row - 1), 0, "%.*s",
		(int)p.length, p.bytes);
	canvas_finish(&p);
	picture_finish(&t.picture);
}
