/* Reading packed lines. They are trusted. Cells that do not fit are dropped. */
#include "ring/screen/grid/packed.h"

#include "ring/utf8.h"

#include <string.h>

struct cell packed_next(const uint8_t **at, unsigned *ret_cells)
{
	const uint8_t *p = *at;
	uint32_t text;
	*ret_cells = 1;
	if (*p == PACKED_RAW) {
		memcpy(&text, p + 1, sizeof text);
		*at = p + 1 + sizeof text;
		return (struct cell){.text = text};
	}
	if (*p == PACKED_WIDE) {
		*ret_cells = 2;
		p++;
	}
	*at = p + utf8_read(p, &text);
	return cell_make(text, *ret_cells, 0);
}

unsigned packed_cells(const struct packed *p, struct cell *cells, unsigned max)
{
	const uint8_t *at = packed_text(p);
	unsigned run = 0, run_end = p->runs > 0 ? p->run[0].cells : UINT32_MAX, columns;
	unsigned extent = p->extent < max ? p->extent : max;
	for (unsigned i = 0; i < extent;) {
		struct cell cell = packed_next(&at, &columns);
		while (i >= run_end && run + 1u < p->runs)
			run_end += p->run[++run].cells;
		cell.style = p->runs > 0 ? p->run[run].style : 0;
		cells[i++] = cell;
		if (columns == 2 && i < extent)
			cells[i++] = cell_make(0, 0, cell.style);
	}
	return extent;
}

void packed_unpack_to(const struct packed *p, struct line *line)
{
	line->offset = p->offset;
	line->wrapped = p->wrapped;
	line->used = packed_cells(p, line->cells, line->length);
}

struct line *packed_unpack(const struct packed *p, unsigned length)
{
	struct line *line = line_create(length);
	if (line)
		packed_unpack_to(p, line);
	return line;
}
