/* A tile is a title line, and rows of the screen up to the cursor. */
#include "ws/client/wall/tile.h"

#include <string.h>

/* The first row that is shown, so that the cursor's row is the last one at most. */
static unsigned first_row(const struct picture *s, unsigned rows)
{
	return s->cursor_row < rows ? 0 : s->cursor_row + 1 - rows;
}

static const char *title_pen(const struct tile *t, bool chosen)
{
	switch (t->attention) {
	case ATTENTION_INPUT:
		return chosen ? "\033[0;1;7;33m" : "\033[0;4;33m";
	case ATTENTION_CALLED:
		return chosen ? "\033[0;1;7;35m" : "\033[0;4;35m";
	case ATTENTION_STUCK:
		return chosen ? "\033[0;1;7;31m" : "\033[0;4;31m";
	case ATTENTION_ENDED:
		return chosen ? "\033[0;1;7m" : "\033[0;2;4m";
	default:
		return chosen ? "\033[0;1;7m" : "\033[0;4m";
	}
}

static void put_title(struct canvas *p, const struct rect *place, const struct tile *t, bool chosen)
{
	const char *parts[] = {chosen ? ">" : " ", t->id, t->name[0] ? " (" : "", t->name,
		t->name[0] ? ")" : "", t->called ? " * " : " - ", t->words};
	unsigned used = 0;
	canvas_move(p, place->x, place->y);
	const char *pen = title_pen(t, chosen);
	canvas_bytes(p, pen, strlen(pen));
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		used += canvas_text(p, parts[i], place->cols - used);
	canvas_blanks(p, place->cols - used);
	canvas_bytes(p, "\033[m", 3);
}

void tile_paint(struct canvas *p, const struct rect *place, const struct tile *t, bool chosen)
{
	if (place->cols == 0 || place->rows == 0)
		return;
	unsigned rows = place->rows - 1, first = first_row(&t->picture, rows);
	put_title(p, place, t, chosen);
	for (unsigned i = 0; i < rows; i++) {
		canvas_move(p, place->x, place->y + 1 + i);
		if (t->picture.cells && first + i < t->picture.rows)
			canvas_row(p, &t->picture, first + i, place->cols);
		else
			canvas_blanks(p, place->cols);
	}
}
