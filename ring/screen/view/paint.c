/*
 * Cells and lines. A cell that no printing leaves is made the way it came about: half of a wide character, one in the
 * last column, the first cell of a line that was wrapped. What is out of memory is told by the output.
 */
#include "ring/screen/view/paint.h"

#include "ring/screen/grid/charset.h"
#include "ring/utf8.h"

#include <string.h>

#define WIDE "\xe3\x80\x80" /* a wide character */

static const struct style plain;

static const struct style *style_of(const struct painter *p, struct cell cell)
{
	return paint_style(p, cell.style);
}

/* Cells */

unsigned paint_cells_of(struct painted from, struct cell cells[SCREEN_SIDE_MAX])
{
	unsigned extent = from.line ? line_extent(from.line) : from.packed->extent;
	if (extent > SCREEN_SIDE_MAX)
		extent = SCREEN_SIDE_MAX;
	if (from.line) {
		memcpy(cells, from.line->cells, extent * sizeof *cells);
		return extent;
	}
	const struct packed *packed = from.packed;
	const uint8_t *at = packed_text(packed);
	unsigned run = 0, run_end = packed->runs > 0 ? packed->run[0].cells : UINT32_MAX, count;
	for (unsigned i = 0; i < extent;) {
		struct cell cell = packed_next(&at, &count);
		while (i >= run_end && run + 1u < packed->runs)
			run_end += packed->run[++run].cells;
		cell.style = packed->runs > 0 ? packed->run[run].style : 0;
		cells[i++] = cell;
		if (count == 2 && i < extent)
			cells[i++] = cell_make(0, 0, cell.style);
	}
	return extent;
}

static void put_code(struct painter *p, uint32_t code)
{
	uint8_t bytes[4];
	if (p->charset != 0)
		code = charset_unmap(p->charset, code);
	output_put(&p->out, bytes, utf8_encode(code, bytes));
}

void paint_text(struct painter *p, struct cell cell)
{
	if (!(cell.text & CELL_CLUSTER)) {
		put_code(p, cell.text & CELL_CODE);
		return;
	}
	size_t length = 0;
	const uint32_t *codes = intern_get(&p->s->clusters, cell.text & CELL_CODE, &length);
	for (size_t i = 0; i < length / sizeof *codes; i++)
		put_code(p, codes[i]);
}

/* Whether erasing leaves such a cell. */
static bool is_erased(const struct style *style)
{
	const struct style erased = {.bg = style->bg};
	return memcmp(style, &erased, sizeof erased) == 0;
}

/*
 * An empty cell in a style that no erasing leaves: it was the half of a wide character. So is this one: one
 * is put there and its second half overwritten.
 */
static void paint_half(struct painter *p, const struct style *style, unsigned at)
{
	paint_pen(p, style);
	output_format(&p->out, WIDE "\033[%uGx\033[%uG", at + 2, at + 2);
	paint_pen(p, &plain);
	output_text(&p->out, "\033[X");
}

static void skip_cells(struct painter *p, unsigned *pending)
{
	if (*pending == 1)
		output_text(&p->out, "\033[C");
	else if (*pending > 1)
		output_format(&p->out, "\033[%uC", *pending);
	*pending = 0;
}

/* Empty cells from `at` on that look alike. Returns how many. */
static unsigned paint_blanks(struct painter *p, const struct cell *cells, unsigned at,
	unsigned extent, unsigned cols, unsigned *pending)
{
	unsigned n = 1;
	const struct style *style = style_of(p, cells[at]);
	while (at + n < extent && cells[at + n].text == 0 && cells[at + n].style == cells[at].style)
		n++;
	if (is_erased(style)) {
		if (style->bg != COLOR_DEFAULT) {
			skip_cells(p, pending);
			paint_pen(p, style);
			output_format(&p->out, "\033[%uX", n);
		}
		*pending += n;
		return n;
	}
	for (unsigned i = 0; i < n; i++) {
		skip_cells(p, pending);
		if (at + i + 1 < cols)
			paint_half(p, style, at + i);
		else
			*pending += 1;
	}
	return n;
}

/*
 * The second half of a wide character whose first is gone, as inserting between them leaves it; before it
 * there is an empty cell. Where it is the first or last of a row, it is left out.
 */
static void paint_tail(struct painter *p, const struct cell *cells, unsigned at, unsigned cols)
{
	if (at == 0 || at + 1 >= cols || cell_has_content(cells[at - 1]))
		return;
	paint_pen(p, style_of(p, cells[at]));
	output_format(&p->out, WIDE "\033[%uG", at + 2);
	paint_pen(p, style_of(p, cells[at - 1]));
	output_format(&p->out, "\033[@\033[%uG", at);
	paint_pen(p, &plain);
	output_text(&p->out, "\033[2P\033[C");
}

/* The first half of a wide character, and then an empty cell in its style. */
static bool is_lone_head(const struct cell *cells, unsigned at, unsigned extent)
{
	struct cell next = at + 1 < extent ? cells[at + 1] : (struct cell){0};
	return cell_width(cells[at]) == 2 && next.text == 0 && next.style == cells[at].style;
}

/* There is no room for the second half of a wide character: the edge or another character is in its place. */
static bool is_cut(const struct cell *cells, unsigned at, unsigned extent, unsigned cols)
{
	return cell_width(cells[at]) == 2 &&
		(at + 1 >= cols || (at + 1 < extent && cell_has_content(cells[at + 1])));
}

/* The first half of a wide character before the last column, as not wrapping leaves it. */
static void paint_head(struct painter *p, struct cell cell)
{
	output_text(&p->out, "\033[?7l");
	paint_text(p, cell);
	output_text(&p->out, "\033[?7h");
}

/* Printable ASCII in the style of the first cell, which is the pen's. Returns how many cells that were. */
static unsigned paint_ascii(struct painter *p, const struct cell *cells, unsigned count)
{
	unsigned n = 0;
	if (p->charset != 0 || !output_reserve(&p->out, count))
		return 0;
	char *to = p->out.bytes + p->out.length;
	for (; n < count && cells[n].text >= 0x20 && cells[n].text < 0x7f &&
		cells[n].style == cells->style;
		n++)
		to[n] = (char)cells[n].text;
	p->out.length += n;
	return n;
}

/* Cells [at, extent), the cursor being at `at`. Returns the column where it is then. */
static unsigned paint_cells(
	struct painter *p, const struct cell *cells, unsigned at, unsigned extent, unsigned cols)
{
	unsigned pending = 0;
	while (at < extent) {
		struct cell cell = cells[at];
		if (cell.text == 0) {
			at += paint_blanks(p, cells, at, extent, cols, &pending);
			continue;
		}
		if (is_cut(cells, at, extent, cols)) {
			pending++;
			at++;
			continue;
		}
		if (!cell_has_content(cell)) { /* a second half without a first */
			skip_cells(p, &pending);
			paint_tail(p, cells, at++, cols);
			pending++;
			continue;
		}
		skip_cells(p, &pending);
		paint_pen(p, style_of(p, cell));
		unsigned ascii = paint_ascii(p, cells + at, extent - at);
		if (ascii > 0) {
			at += ascii;
			continue;
		}
		if (cell_width(cell) == 0)
			output_put(&p->out, "", 1); /* or the mark would join what is before it */
		paint_text(p, cell);
		if (is_lone_head(cells, at, extent) && at + 2 == cols) {
			paint_head(p, cell);
			pending++;
		}
		at += cell_width(cell) == 2 ? 2 : 1;
	}
	return at - pending;
}

/* Lines */

static bool is_wrapped(struct painted from)
{
	return from.line ? from.line->wrapped : from.packed->wrapped;
}

/* A line of plain characters, one a cell: no need to take it apart. */
static void paint_packed(struct painter *p, const struct packed *packed)
{
	const uint8_t *at = packed_text(packed), *end = at + packed->bytes;
	if (packed->runs == 0) {
		paint_pen(p, &plain);
		output_put(&p->out, at, packed->bytes);
		return;
	}
	for (unsigned run = 0; run < packed->runs; run++) {
		const uint8_t *start = at;
		for (unsigned i = 0; i < packed->run[run].cells && at < end; i++)
			at += utf8_announced(*at);
		paint_pen(p, style_of(p, (struct cell){.style = packed->run[run].style}));
		output_put(&p->out, start, (size_t)(at - start));
	}
}

static void paint_offset(struct painter *p, struct painted from)
{
	uint64_t offset = from.line ? from.line->offset : from.packed->offset;
	if (!p->offsets)
		return;
	output_format(&p->out, "\033]7007;%lld\a", (long long)(offset - p->offset));
	p->offset = offset;
}

/* What comes in at the bottom when the screen scrolls has the pen's background. */
static void paint_default_background(struct painter *p)
{
	if (p->pen.bg != COLOR_DEFAULT)
		paint_pen(p, &plain);
}

/* Bring the cursor to a column. Behind the last there is only one way: with the row's first character. */
static void bring_back(struct painter *p, struct cell first, unsigned at, unsigned cols)
{
	output_format(&p->out, "\033[%uG", at < cols ? at + 1 : 1);
	if (at < cols)
		return;
	paint_pen(p, style_of(p, first));
	paint_text(p, first);
}

/*
 * Wrap into the next line, by printing its first cell behind the last column of this one. last: the cell in
 * that column; col: where the cursor is. Returns the column where it is then.
 */
static unsigned paint_wrap(struct painter *p, struct cell last, unsigned col, struct painted next,
	unsigned cols, unsigned rows)
{
	struct cell cells[SCREEN_SIDE_MAX];
	unsigned extent = paint_cells_of(next, cells);
	struct cell first = extent > 0 ? cells[0] : (struct cell){0};
	bool cut = extent > 0 && is_cut(cells, 0, extent, cols),
	     wide = cell_width(first) == 2 && !cut;
	bool natural = col == cols || (wide && col == cols - 1 && last.style == first.style);
	if (!natural) {
		output_format(&p->out, "\033[%uG", cols);
		paint_pen(p, &plain);
		output_text(&p->out, " ");
	}
	unsigned at = cell_has_content(first) && !cut ? cell_width(first) : 0;
	if (at > 0) {
		paint_pen(p, style_of(p, first));
		paint_text(p, first);
	} else {
		paint_pen(p, &plain);
		output_text(&p->out, " \b\033[X");
	}
	if (p->pen.bg != COLOR_DEFAULT) {
		paint_pen(p, &plain);
		output_text(&p->out, "\033[K");
	}
	if (!natural && rows > 1) {
		struct style blank = {.bg = style_of(p, last)->bg};
		output_format(&p->out, "\033[A\033[%uG", cols);
		paint_pen(p, &blank);
		output_text(&p->out, "\033[X\033[B");
		bring_back(p, first, at, cols);
	}
	return at;
}

/* The first line continues one that is not drawn: such a one is, and goes again. Returns the column. */
static unsigned paint_continued(struct painter *p, struct painted line, unsigned cols, unsigned rows)
{
	unsigned at = paint_wrap(p, (struct cell){0}, 0, line, cols, rows);
	if (rows == 1) {
		output_text(&p->out, "\033[3J");
		return at;
	}
	output_text(&p->out, "\033[A\033[M");
	if (at >= cols)
		return 0;
	if (at > 0)
		output_format(&p->out, "\033[%uG", at + 1);
	return at;
}

static void call_on_mark(struct painter *p, struct cell first, unsigned at, unsigned cols)
{
	p->on_mark(p, at);
	if (at >= cols)
		bring_back(p, first, at, cols);
}

void paint_lines(struct painter *p, struct painted (*get)(const void *user, size_t i),
	const void *user, size_t count, unsigned cols, unsigned rows)
{
	struct cell cells[SCREEN_SIDE_MAX];
	unsigned at = 0;
	for (size_t i = 0; i < count; i++) {
		struct painted line = get(user, i);
		bool last = i + 1 == count;
		struct painted next = last ? (struct painted){0} : get(user, i + 1);
		bool wraps = !last && is_wrapped(next);
		if (i == 0 && is_wrapped(line))
			at = paint_continued(p, line, cols, rows);
		paint_offset(p, line);
		if (p->on_mark && p->mark == i) {
			bool empty = paint_cells_of(line, cells) == 0;
			call_on_mark(p, empty ? (struct cell){0} : cells[0], at, cols);
		}
		if (line.packed && !line.packed->odd && at == 0 && !wraps) {
			paint_packed(p, line.packed);
		} else {
			unsigned extent = paint_cells_of(line, cells);
			if (extent > cols)
				extent = cols;
			at = paint_cells(p, cells, at, extent, cols);
			if (wraps) {
				struct cell edge = extent == cols ? cells[cols - 1]
								  : (struct cell){0};
				at = paint_wrap(p, edge, at, next, cols, rows);
				continue;
			}
		}
		if (!last) {
			paint_default_background(p);
			output_text(&p->out, "\r\n");
		}
		at = 0;
	}
}

unsigned paint_pending_column(const struct line *line, unsigned cols)
{
	bool wide = cell_is_tail(line->cells[cols - 1]) && cell_width(line->cells[cols - 2]) == 2;
	return wide ? cols - 2 : cols - 1;
}

bool paint_has_text(const struct painter *p, struct cell cell)
{
	size_t length = sizeof(uint32_t);
	uint32_t code = cell.text & CELL_CODE;
	const uint32_t *codes = cell.text & CELL_CLUSTER
		? intern_get(&p->s->clusters, cell.text & CELL_CODE, &length)
		: &code;
	for (size_t i = 0; p->charset != 0 && codes && i < length / sizeof *codes; i++)
		if (codes[i] != 0 && charset_unmap(p->charset, codes[i]) == 0)
			return false;
	return true;
}

void paint_pending_wrap(struct painter *p, const struct line *line, unsigned cols)
{
	struct cell cell = line->cells[paint_pending_column(line, cols)];
	if (cell_has_content(cell)) {
		paint_pen(p, style_of(p, cell));
		if (cell_width(cell) == 0)
			output_put(&p->out, "", 1);
		paint_text(p, cell);
		return;
	}
	struct style blank = {.bg = style_of(p, cell)->bg};
	paint_pen(p, &blank);
	output_text(&p->out, " ");
	if (line_trimmed(line) == 0)
		output_text(&p->out, "\033[1K"); /* which leaves the cursor where it waits */
}
