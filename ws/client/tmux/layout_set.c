/* Named layouts, after layout-set.c of tmux. They cannot fail, and do not change a window with one pane. */
#include "ws/client/tmux/layout_set.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { EVEN_HORIZONTAL, EVEN_VERTICAL, MAIN_HORIZONTAL, MAIN_VERTICAL, TILED };

static const char *const names[LAYOUT_SET_COUNT] = {
	"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"};

int layout_set_find(const char *name)
{
	int found = -1;
	for (int i = 0; i < LAYOUT_SET_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	for (int i = 0; i < LAYOUT_SET_COUNT; i++) {
		if (strncmp(names[i], name, strlen(name)) != 0)
			continue;
		if (found != -1)
			return -1;
		found = i;
	}
	return found;
}

static int at_least(int size, int least)
{
	return size < least ? least : size;
}

static struct cell *add(
	struct model *m, struct cell *parent, enum cell_type type, int cols, int rows)
{
	struct cell *c = layout_cell(m, parent, type);
	c->cols = cols;
	c->rows = rows;
	if (parent)
		DL_APPEND(parent->children, c);
	return c;
}

static void set_even(struct model *m, struct window *w, enum cell_type type)
{
	struct pane *p;
	int least = (int)model_count_panes(w) * (LAYOUT_SIDE_MIN + 1) - 1;
	int cols = (int)w->cols, rows = (int)w->rows;
	w->layout = add(m, NULL, type, type == CELL_ROW ? at_least(cols, least) : cols,
		type == CELL_ROW ? rows : at_least(rows, least));
	DL_FOREACH (w->panes, p)
		layout_set_pane(add(m, w->layout, CELL_PANE, cols, rows), p);
	layout_spread(w->layout);
}

/* Parse a number of cells, or a percentage of all. Returns other if it is invalid or NULL. */
static int read_size(const char *text, int all, int other)
{
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;
	if (!text || end == text || n < 0 || n > all || (*end && strcmp(end, "%") != 0))
		return other;
	return *end == '%' ? all * (int)(n > 100 ? 100 : n) / 100 : (int)n;
}

/* Sizes of the large pane, and of the rest. */
struct shares {
	int main, other;
};

static struct shares divide(int all, const char *main_size, const char *other_size, int usual)
{
	struct shares s = {.main = at_least(read_size(main_size, all, usual), LAYOUT_SIDE_MIN)};
	if (s.main + LAYOUT_SIDE_MIN >= all) {
		s.main = all <= LAYOUT_SIDE_MIN * 2 ? LAYOUT_SIDE_MIN : all - LAYOUT_SIDE_MIN;
		s.other = LAYOUT_SIDE_MIN;
		return s;
	}
	s.other = read_size(other_size, all, 0);
	if (s.other == 0 || s.other > all || all - s.other < s.main)
		s.other = all - s.main;
	else
		s.main = all - s.other;
	return s;
}

/* One large pane, and the rest beside or below it. */
static void set_main(struct model *m, struct window *w, enum cell_type type,
	const struct layout_set_sizes *sizes)
{
	int n = (int)model_count_panes(w) - 1, least = n * (LAYOUT_SIDE_MIN + 1) - 1;
	bool below = type == CELL_COLUMN;
	struct shares s = below ? divide((int)w->rows - 1, sizes->main_rows, sizes->other_rows, 24)
				: divide((int)w->cols - 1, sizes->main_cols, sizes->other_cols, 80);
	int across = at_least((int)(below ? w->cols : w->rows), least), all = s.main + s.other + 1;
	w->layout = add(m, NULL, type, below ? across : all, below ? all : across);
	layout_set_pane(
		add(m, w->layout, CELL_PANE, below ? across : s.main, below ? s.main : across),
		w->panes);
	struct cell *rest = add(m, w->layout, below ? CELL_ROW : CELL_COLUMN,
		below ? across : s.other, below ? s.other : across);
	if (n == 1) {
		layout_set_pane(rest, w->panes->next);
		return;
	}
	for (struct pane *p = w->panes->next; p; p = p->next)
		layout_set_pane(add(m, rest, CELL_PANE, below ? LAYOUT_SIDE_MIN : s.other,
					below ? s.other : LAYOUT_SIDE_MIN),
			p);
	layout_spread(rest);
}

/* Add a row of tiles, from pane p on. sizes: columns of tiles; cols and rows of a tile. Returns the next pane. */
static struct pane *add_tiles(
	struct model *m, const struct window *w, struct pane *p, const int sizes[3])
{
	int columns = sizes[0], cols = sizes[1], rows = sizes[2], used = -1;
	if (columns == 1 || !p->next) {
		layout_set_pane(add(m, w->layout, CELL_PANE, (int)w->cols, rows), p);
		return p->next;
	}
	struct cell *row = add(m, w->layout, CELL_ROW, (int)w->cols, rows), *last = NULL;
	for (int i = 0; i < columns && p; i++, p = p->next) {
		last = add(m, row, CELL_PANE, cols, rows);
		layout_set_pane(last, p);
		used += cols + 1;
	}
	if (last && (int)w->cols > used)
		layout_adjust(last, CELL_ROW, (int)w->cols - used);
	return p;
}

static void set_tiled(struct model *m, struct window *w)
{
	int n = (int)model_count_panes(w), rows = 1, columns = 1;
	while (rows * columns < n) {
		rows++;
		if (rows * columns < n)
			columns++;
	}
	int width = at_least(((int)w->cols - (columns - 1)) / columns, LAYOUT_SIDE_MIN);
	int height = at_least(((int)w->rows - (rows - 1)) / rows, LAYOUT_SIDE_MIN);
	w->layout = add(m, NULL, CELL_COLUMN, at_least((int)w->cols, (width + 1) * columns - 1),
		at_least((int)w->rows, (height + 1) * rows - 1));
	for (struct pane *p = w->panes; p;)
		p = add_tiles(m, w, p, (int[]){columns, width, height});
	int used = rows * height + rows - 1;
	if ((int)w->rows > used)
		layout_adjust(w->layout->children->prev, CELL_COLUMN, (int)w->rows - used);
}

void layout_set_apply(
	struct model *m, struct window *w, int which, const struct layout_set_sizes *sizes)
{
	w->preset = which;
	if (!w->panes || !w->panes->next)
		return;
	if (which == TILED)
		set_tiled(m, w);
	else if (which == MAIN_HORIZONTAL || which == MAIN_VERTICAL)
		set_main(m, w, which == MAIN_HORIZONTAL ? CELL_COLUMN : CELL_ROW, sizes);
	else
		set_even(m, w, which == EVEN_HORIZONTAL ? CELL_ROW : CELL_COLUMN);
	w->cols = (unsigned)w->layout->cols;
	w->rows = (unsigned)w->layout->rows;
	layout_set_offsets(w);
}
