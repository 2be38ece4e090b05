/* The functions of lines.h that are too long to be inline. Cannot fail. */
#include "ring/screen/view/lines.h"

#include <string.h>

static bool begins_wide(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i >= s->scrollback.count) {
		const struct line *line = screen_line(s, (unsigned)(i - s->scrollback.count));
		return line->used > 0 && cell_width(line->cells[0]) == 2;
	}
	unsigned cells;
	const struct packed *packed = scrollback_get(&s->scrollback, (size_t)i);
	const uint8_t *at = packed_text(packed);
	return packed->extent > 0 && cell_width(packed_next(&at, &cells)) == 2;
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
	bool gap = last.text == 0 && begins_wide(s, number + 1);
	return gap ? s->cols - 1 : s->cols;
}
