/*
 * Cells that plain printing cannot produce. They result from overwriting, deleting and printing
 * without wrap; in xterm.js the order and the ends of each run of text matter.
 */
#include "ring/screen/view/paint_half.h"

#include "ring/screen/grid/width.h"

#include <string.h>

static const struct style plain;

bool paint_half_is_erased(const struct style *style)
{
	const struct style erased = {.bg = style->bg};
	return memcmp(style, &erased, sizeof erased) == 0;
}

void paint_half_blank(struct painter *p, const struct style *style, unsigned at)
{
	paint_pen(p, style);
	output_format(&p->out, PAINT_WIDE "\033[%uGx\033[%uG", at + 2, at + 2);
	paint_pen(p, &plain);
	output_text(&p->out, "\033[X");
}

void paint_half_tail(struct painter *p, const struct cell *cells, unsigned at, unsigned cols)
{
	if (at == 0 || at + 2 >= cols || cell_has_content(cells[at - 1]))
		return;
	paint_pen(p, paint_style(p, cells[at].style));
	output_format(&p->out, PAINT_WIDE "\033[%uG", at + 2);
	paint_pen(p, paint_style(p, cells[at - 1].style));
	output_format(&p->out, "\033[@\033[%uG", at);
	paint_pen(p, &plain);
	output_text(&p->out, "\033[2P\033[C");
}

bool paint_half_is_head(const struct cell *cells, unsigned at, unsigned extent)
{
	struct cell next = at + 1 < extent ? cells[at + 1] : (struct cell){0};
	return cell_width(cells[at]) == 2 && next.style == cells[at].style &&
		(next.text == 0 || cell_width(next) == 1);
}

bool paint_half_is_cut(const struct cell *cells, unsigned at, unsigned extent, unsigned cols)
{
	return cell_width(cells[at]) == 2 &&
		(at + 1 >= cols || (at + 1 < extent && cell_has_content(cells[at + 1])));
}

/* Without autowrap, a wide character in the last column leaves this half. */
static void paint_head_before_edge(struct painter *p, struct cell head, struct cell next)
{
	paint_text(p, head);
	if (cell_has_content(next))
		paint_text(p, next);
	else
		output_text(&p->out, PAINT_WIDE);
}

/*
 * A narrow character, or none, widened by marks: without autowrap, a wide character that does not
 * fit leaves nothing, and a mark after it treats the cell before the last column as wide.
 */
static void paint_widened(struct painter *p, const uint32_t *codes, size_t count, struct cell next)
{
	unsigned first = width_of(codes[0]) > 0 ? 1 : 0;
	if (first == 0)
		output_text(&p->out, "\033[X\033[C");
	else if (!cell_has_content(next))
		output_text(&p->out, PAINT_WIDE "\033[D");
	paint_codes(p, codes, first);
	if (cell_has_content(next))
		paint_text(p, next);
	output_text(&p->out, PAINT_WIDE);
	paint_codes(p, codes + first, count - first);
}

/* The half is made before the last column and then moved to its place. */
unsigned paint_half_head(
	struct painter *p, const struct cell *cells, unsigned at, unsigned extent, unsigned cols)
{
	struct cell next = at + 1 < extent ? cells[at + 1] : (struct cell){0};
	uint32_t single;
	size_t count;
	const uint32_t *codes = paint_codes_of(p, cells[at], &single, &count);
	bool widened = count > 0 && !paint_is_printed(p, cells[at]) && width_of(codes[0]) < 2,
	     behind = cell_has_content(next) && !widened;
	if (at + 2 < cols)
		output_format(&p->out, "\033[%uG", cols - 1);
	if (widened)
		paint_clusters(p, false);
	paint_pen(p, paint_style(p, cells[at].style));
	output_text(&p->out, "\033[?7l");
	if (widened)
		paint_widened(p, codes, count, next);
	else
		paint_head_before_edge(p, cells[at], next);
	output_text(&p->out, "\033[?7h");
	if (at + 2 == cols)
		return behind ? 0 : 1;
	paint_pen(p, &plain);
	output_format(&p->out, "\033[%uG\033[%uP\033[%uG", at + 1, cols - 2 - at, at + 3);
	return 0;
}

bool paint_half_is_edge(
	const struct painter *p, const struct cell *cells, unsigned extent, unsigned cols)
{
	return extent == cols && cells[cols - 1].text == 0 &&
		!paint_half_is_erased(paint_style(p, cells[cols - 1].style));
}

/* Whether the cells before the last column can be drawn without changing it. */
static bool edge_stays(const struct painter *p, const struct cell *cells, unsigned at, unsigned cols)
{
	struct cell before = cells[cols - 2];
	bool blank = before.text == 0;
	if (at + 2 > cols || (blank && !paint_half_is_erased(paint_style(p, before.style))))
		return false;
	for (unsigned x = at; x + 1 < cols; x++)
		if (cell_width(cells[x]) == 2 && cell_is_tail(cells[x + 1]))
			x++;
		else if (cell_width(cells[x]) == 2 || cell_is_tail(cells[x]))
			return false;
	return true;
}

/* Overwriting the first half of a wide character turns its second half into such a cell. */
void paint_half_edge(struct painter *p, const struct cell *cells, unsigned at, unsigned cols)
{
	const struct style *style = paint_style(p, cells[cols - 1].style);
	struct style erased = {.bg = style->bg};
	if (edge_stays(p, cells, at, cols)) {
		paint_pen(p, style);
		output_format(&p->out, "\033[%uG" PAINT_WIDE "\033[%uGx\033[%uG", cols - 1,
			cols - 1, cols - 1);
		paint_pen(p, &plain);
	} else {
		paint_pen(p, &erased);
		output_format(&p->out, "\033[%uG", cols);
	}
	output_format(&p->out, "\033[X\033[%uG", at + 1);
}
