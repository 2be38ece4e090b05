#include "ring/screen/lines.h"

#include <string.h>

static bool begins_wide(struct painted from)
{
	unsigned cells;
	if (from.line)
		return from.line->used > 0 && cell_width(from.line->cells[0]) == 2;
	const uint8_t *at = packed_text(from.packed);
	return from.packed->extent > 0 && cell_width(packed_next(&at, &cells)) == 2;
}

unsigned lines_cells(
	const struct screen *s, uint64_t number, bool joined, struct cell cells[SCREEN_SIDE_MAX])
{
	unsigned extent = paint_cells_of(lines_get(s, number), cells);
	if (extent > s->cols)
		extent = s->cols;
	if (!joined)
		return extent;
	memset(cells + extent, 0, (s->cols - extent) * sizeof *cells);
	struct cell last = cells[s->cols - 1];
	bool gap = last.text == 0 && begins_wide(lines_get(s, number + 1));
	return gap ? s->cols - 1 : s->cols;
}
