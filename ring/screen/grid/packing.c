/* A line is packed in a thread-local buffer of maximum size and then copied. Cannot fail. */
#include "ring/screen/grid/packing.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The default style alone needs no runs. */
static unsigned runs_of(const struct packing *from)
{
	return from->runs == 1 && from->run[0].style == 0 ? 0 : from->runs;
}

size_t packing_size(const struct packing *from)
{
	return sizeof(struct packed) + runs_of(from) * sizeof *from->run + from->bytes;
}

struct packing *packing_begin(uint64_t offset, bool wrapped)
{
	static _Thread_local struct packing place;
	place.offset = offset;
	place.wrapped = wrapped;
	place.odd = false;
	place.cells = place.content = place.runs = place.bytes = place.raws = 0;
	return &place;
}

static uint8_t *text_end(struct packing *to)
{
	return to->text + to->bytes;
}

/* Append cells to the runs. */
static void add_cells(struct packing *to, unsigned count, uint32_t style)
{
	to->cells += count;
	if (to->runs > 0 && to->run[to->runs - 1].style == style)
		to->run[to->runs - 1].cells += count;
	else
		to->run[to->runs++] = (struct packed_run){.style = style, .cells = count};
}

void packing_ascii(struct packing *to, const uint8_t *ascii, unsigned count, uint32_t style)
{
	if (count == 0)
		return;
	memcpy(text_end(to), ascii, count);
	to->bytes += count;
	add_cells(to, count, style);
	to->content = to->cells;
}

void packing_blank(struct packing *to, unsigned count, uint32_t style)
{
	if (count == 0)
		return;
	memset(text_end(to), PACKED_BLANK, count);
	to->bytes += count;
	to->odd = true;
	add_cells(to, count, style);
}

void packing_character(
	struct packing *to, const uint8_t *utf8, unsigned size, unsigned width, uint32_t style)
{
	if (width == 2) {
		*text_end(to) = PACKED_WIDE;
		to->bytes++;
		to->odd = true;
	}
	memcpy(text_end(to), utf8, size);
	to->bytes += size;
	add_cells(to, width, style);
	to->content = to->cells;
}

static void put_raw(struct packing *to, struct cell cell)
{
	to->raw[to->raws++] = cell.text;
	uint8_t *text = text_end(to);
	*text = PACKED_RAW;
	memcpy(text + 1, &cell.text, sizeof cell.text);
	to->bytes += 1 + (unsigned)sizeof cell.text;
	to->odd = true;
}

void packing_cell(struct packing *to, struct cell cell)
{
	unsigned width = cell_width(cell);
	put_raw(to, cell);
	if (width == 2)
		put_raw(to, cell_make(0, 0, cell.style));
	add_cells(to, width, cell.style);
	to->content = to->cells;
}

void packing_copy(const struct packing *from, struct packed *to)
{
	*to = (struct packed){.offset = from->offset,
		.bytes = from->bytes,
		.runs = (uint16_t)runs_of(from),
		.extent = (uint16_t)from->cells,
		.trimmed = (uint16_t)from->content,
		.wrapped = from->wrapped,
		.odd = from->odd};
	memcpy(to->run, from->run, to->runs * sizeof *to->run);
	memcpy(to->run + to->runs, from->text, to->bytes);
}

/* From lines */

/* Append the cell at i. Returns the number of cells consumed. */
static unsigned put_cell(struct packing *to, const struct line *line, unsigned i, unsigned extent)
{
	struct cell cell = line->cells[i];
	uint32_t code = cell.text & CELL_CODE;
	bool pair = cell_width(cell) == 2 && i + 1 < extent && cell_is_tail(line->cells[i + 1]) &&
		line->cells[i + 1].style == cell.style;
	if ((cell.text & CELL_CLUSTER) || code < 0x20 || (cell_width(cell) != 1 && !pair)) {
		put_raw(to, cell);
		return 1;
	}
	if (pair) {
		*text_end(to) = PACKED_WIDE;
		to->bytes++;
		to->odd = true;
	}
	to->bytes += utf8_encode(code, text_end(to));
	return pair ? 2 : 1;
}

/* Number of cells that are printable ASCII in the style of the first cell; the common case. */
static unsigned ascii_run(const struct cell *cells, unsigned count)
{
	typedef uint32_t pair __attribute__((vector_size(16))); /* two cells */
	const pair space = {0x20, 0, 0x20, 0}, text = {~0x7fu, 0, ~0x7fu, 0},
		   styles = {0, ~0u, 0, ~0u}, style = {0, cells[0].style, 0, cells[0].style};
	unsigned i = 0;
	for (; count - i >= 4; i += 4) {
		pair a, b;
		uint64_t other[2];
		memcpy(&a, cells + i, sizeof a);
		memcpy(&b, cells + i + 2, sizeof b);
		/* Bits that printable ASCII never has; differing styles. */
		pair wrong = (((a | (a - space)) | (b | (b - space))) & text) |
			(((a ^ style) | (b ^ style)) & styles);
		memcpy(other, &wrong, sizeof other);
		if ((other[0] | other[1]) != 0)
			break;
	}
	while (i < count && cells[i].style == cells[0].style && cells[i].text >= 0x20 &&
		cells[i].text < 0x80)
		i++;
	return i;
}

static unsigned blank_run(const struct cell *cells, unsigned count)
{
	unsigned i = 1;
	while (i < count && cells[i].style == cells[0].style && cells[i].text == 0)
		i++;
	return i;
}

static void copy_ascii(uint8_t *restrict text, const struct cell *restrict cells, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		text[i] = (uint8_t)cells[i].text;
}

/* Append the similar cells from i on. Returns their number. */
static unsigned put_cells(struct packing *to, const struct line *line, unsigned i, unsigned extent)
{
	unsigned cells = ascii_run(line->cells + i, extent - i);
	uint32_t style = line->cells[i].style;
	if (cells > 0) {
		copy_ascii(text_end(to), line->cells + i, cells);
		to->bytes += cells;
	} else if (line->cells[i].text == 0) {
		cells = blank_run(line->cells + i, extent - i);
		packing_blank(to, cells, style);
		return cells;
	} else {
		cells = put_cell(to, line, i, extent);
	}
	add_cells(to, cells, style);
	return cells;
}

const struct packing *packing_line(const struct line *line)
{
	struct packing *to = packing_begin(line->offset, line->wrapped);
	unsigned extent = line_extent(line), trimmed = extent;
	if (extent > 0 &&
		(!cell_has_content(line->cells[extent - 1]) ||
			cell_width(line->cells[extent - 1]) != 1))
		trimmed = line_trimmed(line);
	if (extent > PACKED_CELLS_MAX)
		extent = PACKED_CELLS_MAX;
	for (unsigned i = 0; i < extent;)
		i += put_cells(to, line, i, extent);
	to->content = trimmed;
	return to;
}

struct packed *packing_copy_of(const struct line *line)
{
	const struct packing *from = packing_line(line);
	struct packed *p = malloc(packing_size(from));
	if (p)
		packing_copy(from, p);
	return p;
}
