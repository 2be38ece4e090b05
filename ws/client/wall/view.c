/*
 * Draws a wall: the page with the chosen session, and the foot below. Only changes are drawn. If the terminal
 * cannot be written to, the wall ends.
 */
#include "ws/client/wall/wall_state.h"

#include "ws/client/attach/tty.h"
#include "ws/client/wall/tile.h"

#include <stdio.h>

static const char begin_update[] = "\033[?2026h", end_update[] = "\033[?2026l";

bool view_is_shown(const struct wall *w, const struct tile *t)
{
	unsigned first = w->page * w->tiling.per_page;
	for (unsigned i = 0; i < tiling_on_page(&w->tiling, w->page); i++)
		if (w->crowd.tiles[first + i] == t)
			return true;
	return false;
}

static void choose(struct wall *w, unsigned at)
{
	unsigned page = at / w->tiling.per_page;
	struct tile *before = crowd_find(&w->crowd, w->chosen);
	if (before)
		before->dirty = true;
	w->at = at;
	w->chosen = 0;
	if (at < w->crowd.count) {
		w->chosen = w->crowd.tiles[at]->serial;
		w->crowd.tiles[at]->dirty = true;
	}
	w->dirty = w->dirty || page != w->page;
	w->page = page;
}

void view_arrange(struct wall *w)
{
	unsigned cols, rows, count = (unsigned)w->crowd.count;
	struct tiling before = w->tiling;
	tty_size(&cols, &rows);
	w->dirty = crowd_sort(&w->crowd) || w->dirty;
	tiling_make(&w->tiling, count, cols, rows);
	w->dirty = w->dirty || before.count != count || before.cols != cols || before.rows != rows;
	/* The chosen session stays chosen wherever it moves. If it is gone, the one at its position is chosen. */
	unsigned at = crowd_find(&w->crowd, w->chosen) ? crowd_index(&w->crowd, w->chosen) : w->at;
	if (!w->dirty && at == w->at && w->chosen)
		return;
	choose(w, at < count ? at : count > 0 ? count - 1 : 0);
}

void view_move(struct wall *w, enum tiling_step step)
{
	choose(w, tiling_move(&w->tiling, w->at, step));
}

static void draw_foot(const struct wall *w, struct canvas *p)
{
	char text[200], page[48] = "";
	unsigned needed = 0;
	for (unsigned s = ATTENTION_INPUT; s <= ATTENTION_STUCK; s++)
		needed += crowd_count(&w->crowd, s);
	if (w->tiling.pages > 1)
		snprintf(page, sizeof page, " page %u of %u;", w->page + 1, w->tiling.pages);
	if (w->away)
		snprintf(text, sizeof text, " the server is away; trying again; q leaves");
	else if (!w->listed)
		snprintf(text, sizeof text, " ...");
	else if (w->crowd.count == 0)
		snprintf(text, sizeof text, " there are no sessions; q leaves");
	else
		snprintf(text, sizeof text,
			" %zu session%s, %u need%s attention;%s arrows choose, Enter attaches, q leaves",
			w->crowd.count, w->crowd.count == 1 ? "" : "s", needed,
			needed == 1 ? "s" : "", page);
	canvas_line(p, w->tiling.rows > 0 ? w->tiling.rows - 1 : 0, w->tiling.cols, text);
}

void view_draw(struct wall *w)
{
	struct canvas p = {0};
	unsigned first = w->page * w->tiling.per_page;
	bool any = w->dirty;
	if (w->dirty)
		canvas_clear(&p);
	for (unsigned i = 0; i < tiling_on_page(&w->tiling, w->page); i++) {
		struct tile *t = w->crowd.tiles[first + i];
		struct rect place = tiling_place(&w->tiling, w->page, i);
		if (!w->dirty && !t->dirty)
			continue;
		tile_paint(&p, &place, t, t->serial == w->chosen);
		t->dirty = false;
		any = true;
	}
	if (any)
		draw_foot(w, &p);
	w->dirty = false;
	bool good = !any ||
		(tty_write(begin_update, sizeof begin_update - 1) && tty_write(p.bytes, p.length) &&
			tty_write(end_update, sizeof end_update - 1));
	if (p.failed)
		wall_end(w, CLI_FAILED, "out of memory");
	else if (!good)
		wall_end(w, CLI_FAILED, "the terminal is gone");
	canvas_finish(&p);
}
