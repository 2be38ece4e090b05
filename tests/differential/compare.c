#include "compare.h"

#include "ring/screen/grid/width.h"
#include "ring/utf8.h"

#include <stdio.h>

#define MARK 0x301u
#define NARROW 0x25a1u
#define WIDE 0x4e16u

uint32_t compare_stand_in(uint32_t code)
{
	static const uint32_t of_width[] = {MARK, NARROW, WIDE};
	/* libvterm draws two slanted signs of the line drawing set upright. */
	if (code == 0x2a7d || code == 0x2a7e)
		return code == 0x2a7d ? 0x2264 : 0x2265;
	if (code == 0xfffe || code == 0xffff)
		return 0xfffd;
	if (code < 0x7f)
		return code;
	unsigned width = width_of(code);
	if (width == 0)
		return MARK;
	return width == second_width(code) ? code : of_width[width];
}

unsigned compare_cell(
	const struct screen *s, unsigned row, unsigned col, uint32_t ret_codes[SCREEN_CLUSTER_MAX])
{
	const struct line *line = screen_line(s, row);
	if (col >= line->length || !cell_has_content(line->cells[col]))
		return 0;
	struct cell cell = line->cells[col];
	size_t bytes = sizeof(uint32_t);
	uint32_t code = cell.text & CELL_CODE;
	const uint32_t *codes = cell.text & CELL_CLUSTER ? intern_get(&s->clusters, code, &bytes)
							 : &code;
	unsigned n = 0;
	for (; codes && n < bytes / sizeof *codes; n++)
		ret_codes[n] = compare_stand_in(codes[n]);
	bool whole = col + 1 < s->cols && col + 1 < line->length &&
		cell_is_tail(line->cells[col + 1]);
	if (cell_width(cell) == 2 && !whole && n > 0)
		ret_codes[0] = NARROW;
	return n > 0 && ret_codes[0] == MARK ? 0 : n;
}

static bool same_cell(const struct screen *s, const struct second *v, unsigned row, unsigned col)
{
	uint32_t ours[SCREEN_CLUSTER_MAX], theirs[SECOND_CODES];
	unsigned n = compare_cell(s, row, col, ours), m = second_cell(v, row, col, theirs);
	n = n < SECOND_CODES ? n : SECOND_CODES;
	if (n == 1 && ours[0] == ' ')
		n = 0;
	if (m > 0 && ((m == 1 && theirs[0] == ' ') || compare_stand_in(theirs[0]) == MARK))
		m = 0;
	for (unsigned i = 0; i < n && n == m; i++)
		if (ours[i] != compare_stand_in(theirs[i]))
			return false;
	return n == m;
}

struct difference compare(
	const struct screen *s, const struct second *v, unsigned first, unsigned end)
{
	struct difference d = {0};
	screen_cursor(s, &d.ours[0], &d.ours[1]);
	d.ours[1] = d.ours[1] < s->cols ? d.ours[1] : s->cols - 1;
	second_cursor(v, &d.theirs[0], &d.theirs[1]);
	/* Behind a wide character, libvterm's cursor waits in the first of its columns. */
	bool wide = s->active->x >= s->cols && screen_line(s, d.ours[0])->length >= s->cols &&
		cell_is_tail(screen_line(s, d.ours[0])->cells[s->cols - 1]);
	d.cursor = d.ours[0] != d.theirs[0] ||
		(d.ours[1] != d.theirs[1] && d.ours[1] != d.theirs[1] + wide);
	for (unsigned row = first; row < end; row++)
		for (unsigned col = 0; col < s->cols; col++)
			if (!same_cell(s, v, row, col)) {
				d.text = true;
				d.row = row;
				d.col = col;
				return d;
			}
	return d;
}

static void put_cell(const uint32_t *codes, unsigned n)
{
	uint8_t bytes[4];
	if (n == 0)
		putchar('_');
	for (unsigned i = 0; i < n; i++)
		if (codes[i] >= ' ')
			fwrite(bytes, 1, utf8_encode(codes[i], bytes), stdout);
}

void compare_explain(const struct screen *s, const struct second *v, const struct difference *d)
{
	uint32_t codes[SCREEN_CLUSTER_MAX];
	if (d->cursor)
		printf(" cursor %u,%u against %u,%u", d->ours[0], d->ours[1], d->theirs[0],
			d->theirs[1]);
	if (!d->text)
		return;
	printf(" row %u from column %u: ", d->row, d->col);
	for (unsigned col = d->col; col < s->cols && col < d->col + 20; col++)
		put_cell(codes, compare_cell(s, d->row, col, codes));
	printf(" against ");
	for (unsigned col = d->col; col < s->cols && col < d->col + 20; col++)
		put_cell(codes, second_cell(v, d->row, col, codes));
}
