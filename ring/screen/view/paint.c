/*
 * Cells and lines. A cell that plain printing cannot produce is produced the way it came about:
 * half of a wide character, an odd cell in the last column, the first cell of a wrapped line.
 * Allocation failures set the output's `failed`.
 */
#include "ring/screen/view/paint_half.h"

#include "ring/screen/grid/charset.h"
#include "ring/screen/grid/grapheme.h"
#include "ring/screen/grid/width.h"
#include "ring/utf8.h"

#include <string.h>

static const struct style plain;

static const struct style *style_of(const struct painter *p, struct cell cell)
{
	return paint_style(p, cell.style);
}

/* Cells */

unsigned paint_cells_of(struct painted from, struct cell cells[SCREEN_SIDE_MAX])
{
	if (!from.line)
		return packed_cells(from.packed, cells, SCREEN_SIDE_MAX);
	unsigned extent = line_extent(from.line);
	if (extent > SCREEN_SIDE_MAX)
		extent = SCREEN_SIDE_MAX;
	memcpy(cells, from.line->cells, extent * sizeof *cells);
	return extent;
}

static void put_code(struct painter *p, uint32_t code)
{
	uint8_t bytes[4];
	if (p->charset != 0)
		code = charset_unmap(p->charset, code);
	output_put(&p->out, bytes, utf8_encode(code, bytes));
}

const uint32_t *paint_codes_of(
	const struct painter *p, struct cell cell, uint32_t *single, size_t *ret_count)
{
	*single = cell.text & CELL_CODE;
	*ret_count = 1;
	if (!(cell.text & CELL_CLUSTER))
		return single;
	size_t length = 0;
	const uint32_t *codes = intern_get(&p->s->clusters, *single, &length);
	*ret_count = codes ? length / sizeof *codes : 0;
	return codes;
}

void paint_codes(struct painter *p, const uint32_t *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_code(p, codes[i]);
}

void paint_clusters(struct painter *p, bool on)
{
	if (p->clusters != on)
		output_text(&p->out, on ? "\033[?2027h" : "\033[?2027l");
	p->clusters = on;
}

/* Prevent the next character from joining the one before the cursor. */
static void separate(struct painter *p)
{
	output_put(&p->out, "", 1); /* NUL */
}

/* State of a cluster-joining terminal after codes. *ret_whole: they form one cluster. */
static struct grapheme cluster_of(const uint32_t *codes, size_t count, bool *ret_whole)
{
	struct grapheme last = {0};
	*ret_whole = true;
	for (size_t i = 0; i < count; i++) {
		last = grapheme_next(last, codes[i]);
		*ret_whole = *ret_whole && (i == 0 || last.joins);
	}
	return last;
}

/* Whether a terminal with or without clusters draws the code points as one cell of this width. */
static bool is_one_cell(const uint32_t *codes, size_t count, unsigned width, bool clusters)
{
	bool whole = count > 0 && width_of(codes[0]) == width;
	if (clusters)
		return cluster_of(codes, count, &whole).width == width && whole;
	for (size_t i = 1; i < count; i++)
		whole = whole && width > 0 && width_of(codes[i]) == 0;
	return whole;
}

bool paint_is_printed(struct painter *p, struct cell cell)
{
	uint32_t single;
	size_t count;
	unsigned width = cell_width(cell);
	const uint32_t *codes = paint_codes_of(p, cell, &single, &count);
	if (is_one_cell(codes, count, width, p->clusters))
		return true;
	if (!p->mixed || !is_one_cell(codes, count, width, !p->clusters))
		return false;
	paint_clusters(p, !p->clusters);
	return true;
}

void paint_text(struct painter *p, struct cell cell)
{
	uint32_t single;
	size_t count;
	const uint32_t *codes = paint_codes_of(p, cell, &single, &count);
	if (p->mixed)
		paint_is_printed(p, cell);
	paint_codes(p, codes, count);
}

/* Whether a cell would join the one before it if drawn directly after it. */
static bool joins(const struct painter *p, struct cell before, struct cell cell)
{
	uint32_t single;
	size_t count;
	bool whole;
	if (!p->mixed || !cell_has_content(before) || !cell_has_content(cell))
		return false;
	const uint32_t *codes = paint_codes_of(p, before, &single, &count);
	struct grapheme last = cluster_of(codes, count, &whole);
	codes = paint_codes_of(p, cell, &single, &count);
	return count > 0 && grapheme_next(last, codes[0]).joins;
}

static void skip_cells(struct painter *p, unsigned *pending)
{
	if (*pending == 1)
		output_text(&p->out, "\033[C");
	else if (*pending > 1)
		output_format(&p->out, "\033[%uC", *pending);
	*pending = 0;
}

/* Draw equal empty cells from `at` on. Returns their number. */
static unsigned paint_blanks(struct painter *p, const struct cell *cells, unsigned at,
	unsigned extent, unsigned cols, unsigned *pending)
{
	unsigned n = 1;
	const struct style *style = style_of(p, cells[at]);
	while (at + n < extent && cells[at + n].text == 0 && cells[at + n].style == cells[at].style)
		n++;
	if (paint_half_is_erased(style)) {
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
			paint_half_blank(p, style, at + i);
		else
			*pending += 1;
	}
	return n;
}

/* Draw printable ASCII in the style of the first cell. Returns the number of cells. */
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

/* Draw only the background of a character that does not fit. */
static void paint_background(struct painter *p, struct cell cell, unsigned *pending)
{
	struct style style = {.bg = style_of(p, cell)->bg};
	if (style.bg != COLOR_DEFAULT) {
		skip_cells(p, pending);
		paint_pen(p, &style);
		output_text(&p->out, "\033[X");
	}
	++*pending;
}

/* Draw cells [at, extent), with the cursor at `at`. Returns the cursor's column. */
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
		if (at + 1 < cols && paint_half_is_head(cells, at, extent)) {
			skip_cells(p, &pending);
			pending = paint_half_head(p, cells, at, extent, cols);
			at += 2;
			continue;
		}
		if (paint_half_is_cut(cells, at, extent, cols)) {
			paint_background(p, cell, &pending);
			at++;
			continue;
		}
		if (!cell_has_content(cell)) { /* a lone second half */
			skip_cells(p, &pending);
			paint_half_tail(p, cells, at++, cols);
			pending++;
			continue;
		}
		skip_cells(p, &pending);
		unsigned images = paint_image(p, cells + at, extent - at);
		if (images > 0) {
			at += images;
			continue;
		}
		paint_pen(p, style_of(p, cell));
		if (at > 0 &&
			joins(p, cells[at - (at > 1 && cell_is_tail(cells[at - 1]) ? 2 : 1)], cell))
			separate(p);
		unsigned ascii = paint_ascii(p, cells + at, extent - at);
		if (ascii > 0) {
			at += ascii;
			continue;
		}
		if (cell_width(cell) == 0)
			separate(p);
		paint_text(p, cell);
		at += cell_width(cell) == 2 ? 2 : 1;
	}
	return at - pending;
}

/* Lines */

static bool is_wrapped(struct painted from)
{
	return from.line ? from.line->wrapped : from.packed->wrapped;
}

/* Draw a packed line of narrow plain characters without unpacking it. */
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
			at += utf8_lead_length(*at);
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

/* Lines that scroll in get the pen's background, in libvterm all visible attributes. */
static void paint_default_background(struct painter *p)
{
	const uint16_t shown = STYLE_INVERSE | STYLE_UNDERLINE | STYLE_STRIKE | STYLE_OVERLINE |
		STYLE_BLINK;
	if (p->pen.bg != COLOR_DEFAULT || (p->pen.flags & shown))
		paint_pen(p, &plain);
}

/*
 * Move the cursor to a column. Beyond the last column, reprint the row's first character, which
 * leaves a wrap pending.
 */
static void move_back(struct painter *p, struct cell first, unsigned at, unsigned cols)
{
	output_format(&p->out, "\033[%uG", at < cols ? at + 1 : 1);
	if (at < cols || paint_image(p, &first, 1) > 0)
		return;
	paint_pen(p, style_of(p, first));
	paint_text(p, first);
}

/*
 * Wrap with an empty last column in the style of `last`: print a wide character, which does not
 * fit, and erase it in the next line, where the cursor is then.
 */
static void paint_wrap_blank(struct painter *p, struct cell last, unsigned cols)
{
	struct style style = {0};
	if (last.text == 0)
		style = *style_of(p, last);
	else if (cell_has_content(last))
		style.bg = style_of(p, last)->bg;
	output_format(&p->out, "\033[%uG", cols);
	paint_pen(p, &style);
	output_text(&p->out, PAINT_WIDE);
	paint_pen(p, &plain);
	output_text(&p->out, "\033[K\r\033[2X");
}

/* The wrap would erase a lone first half before the last column: draw it after the wrap. */
static void paint_wrap_head(
	struct painter *p, const struct cell *cells, unsigned extent, unsigned cols)
{
	paint_wrap_blank(p, (struct cell){0}, cols);
	output_format(&p->out, "\033[A\033[%uG", cols - 1);
	paint_half_head(p, cells, cols - 2, extent, cols);
	output_text(&p->out, "\033[B\r");
}

/* Move to the next line, which does not continue this one. */
static void paint_end(struct painter *p, const struct cell *cells, unsigned extent, unsigned cols)
{
	if (paint_half_is_edge(p, cells, extent, cols) &&
		!paint_half_is_head(cells, cols - 2, extent)) {
		paint_wrap_blank(p, cells[cols - 1], cols);
		output_text(&p->out, "\033[K"); /* from the first column on: clears the wrap flag */
		return;
	}
	paint_default_background(p);
	output_text(&p->out, "\r\n");
}

/*
 * Wrap into the next line by printing its first cell after the last column. last: the cell in that
 * column. col: the cursor's column. Returns the new column.
 */
static unsigned paint_wrap(
	struct painter *p, struct cell last, unsigned col, struct painted next, unsigned cols)
{
	struct cell cells[SCREEN_SIDE_MAX];
	unsigned extent = paint_cells_of(next, cells);
	struct cell first = extent > 0 ? cells[0] : (struct cell){0};
	bool cut = extent > 0 &&
		(paint_half_is_cut(cells, 0, extent, cols) || paint_half_is_head(cells, 0, extent)),
	     wide = cell_width(first) == 2 && !cut;
	bool fits = wide && col == cols - 1 && last.text == 0 && last.style == first.style;
	if (col != cols && !fits) {
		paint_wrap_blank(p, last, cols);
		return 0;
	}
	unsigned at = cell_has_content(first) && !cut ? cell_width(first) : 0;
	if (at > 0 && paint_image(p, &first, 1) == 0) {
		paint_pen(p, style_of(p, first));
		if (p->mixed)
			separate(p);
		paint_text(p, first);
	} else if (at == 0) {
		paint_pen(p, &plain);
		output_text(&p->out, " \b\033[X");
	}
	if (p->pen.bg != COLOR_DEFAULT) {
		paint_pen(p, &plain);
		output_text(&p->out, "\033[K");
	}
	return at;
}

/* The first line continues a line that is not drawn: draw such a line and remove it. */
static void paint_continued(struct painter *p, unsigned cols, unsigned rows)
{
	paint_wrap_blank(p, (struct cell){0}, cols);
	output_text(&p->out, rows == 1 ? "\033[3J" : "\033[A\033[M");
}

static void call_on_mark(struct painter *p, struct cell first, unsigned at, unsigned cols)
{
	p->on_mark(p, at);
	if (at >= cols)
		move_back(p, first, at, cols);
}

void paint_lines(struct painter *p, struct painted (*get)(const void *user, size_t i),
	const void *user, size_t count, unsigned cols, unsigned rows)
{
	struct cell cells[SCREEN_SIDE_MAX] = {0};
	unsigned at = 0;
	for (size_t i = 0; i < count; i++) {
		struct painted line = get(user, i);
		bool last = i + 1 == count;
		struct painted next = last ? (struct painted){0} : get(user, i + 1);
		bool wraps = !last && is_wrapped(next);
		if (i == 0 && is_wrapped(line))
			paint_continued(p, cols, rows);
		paint_offset(p, line);
		if (p->on_mark && p->mark == i) {
			bool empty = paint_cells_of(line, cells) == 0;
			call_on_mark(p, empty ? (struct cell){0} : cells[0], at, cols);
		}
		unsigned extent = 0;
		if (line.packed && !line.packed->odd && at == 0 && !wraps && !p->mixed &&
			!paint_has_image(p, line.packed)) {
			paint_packed(p, line.packed);
		} else {
			extent = paint_cells_of(line, cells);
			if (extent > cols)
				extent = cols;
			if (wraps && rows > 1 && extent + 1 >= cols &&
				paint_half_is_head(cells, cols - 2, extent)) {
				paint_cells(p, cells, at, cols - 2, cols);
				paint_wrap_head(p, cells, extent, cols);
				at = 0;
				continue;
			}
			/* Otherwise the wrap would have left this cell. */
			if (last && paint_half_is_edge(p, cells, extent, cols))
				paint_half_edge(p, cells, at, cols);
			at = paint_cells(p, cells, at, extent, cols);
			if (wraps) {
				struct cell edge = extent == cols ? cells[cols - 1]
								  : (struct cell){0};
				at = paint_wrap(p, edge, at, next, cols);
				continue;
			}
		}
		if (!last)
			paint_end(p, cells, extent, cols);
		at = 0;
	}
}

unsigned paint_pending_column(const struct line *line, unsigned cols)
{
	bool wide = cell_is_tail(line->cells[cols - 1]) && cell_width(line->cells[cols - 2]) == 2;
	return wide ? cols - 2 : cols - 1;
}

void paint_pending_wrap(struct painter *p, const struct line *line, unsigned cols)
{
	struct cell cell = line->cells[paint_pending_column(line, cols)];
	if (cell_has_content(cell) && paint_half_is_head(line->cells, cols - 2, cols)) {
		output_text(&p->out, "\033[D");
		paint_half_head(p, line->cells, cols - 2, cols, cols);
		return;
	}
	if (paint_image(p, &cell, 1) > 0)
		return;
	if (cell_has_content(cell)) {
		paint_pen(p, style_of(p, cell));
		if (cell_width(cell) == 0)
			separate(p);
		paint_text(p, cell);
		return;
	}
	struct style blank = {.bg = style_of(p, cell)->bg};
	paint_pen(p, &blank);
	output_text(&p->out, " ");
	bool empty = true;
	for (unsigned x = 0; x < cols && x < line->used; x++)
		empty = empty && !cell_has_content(line->cells[x]);
	if (empty)
		output_text(&p->out, "\033[1K"); /* erases without moving the cursor */
}
