/*
 * Bulk text: whole lines of text, with at most tabs and colours, that scroll past. They go straight
 * into the scrollback; lines that would leave it again within this call are only counted. The last
 * screenful is printed normally. The result is the same as if all of it had been printed.
 *
 * Bulk begins at the start of a line at the bottom of a screen that scrolls as a whole. Anything
 * else is left to the parser.
 */
#include "ring/screen/bulk_line.h"
#include "ring/screen/bulk_piece.h"
#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"

#include <assert.h>
#include <string.h>

/* bytes of the last screenful, which is printed in one go */
#define SCREENFUL_MAX ((size_t)256 << 10)
#define BYTES_MIN ((size_t)16 << 10) /* smaller bulk is not worth its setup */
#define BYTES_PER_WORK 8u            /* this many bytes cost as much as touching a cell */
#define LINE_WORK 8u
#define PASSED_LINE_WORK 2u

/* Rows that a line occupies, and the column of its cursor: `cols` while a wrap is pending. */
struct extent {
	unsigned rows, x;
};

/* State of bulk processing. */
struct bulk {
	struct screen *s;
	const uint8_t *at, *end;
	struct packing *row; /* the row being filled */
	unsigned x;          /* cursor column in the row */
	uint32_t fill;       /* style of its blank cells */
	unsigned tab_width;  /* columns of the widest tab */
	bool bottom_is_real; /* the row is also in the bottom row of the screen */
};

/* Rows and columns */

/* Advance by n columns of characters of this width. */
static void extend(const struct screen *s, struct extent *e, size_t n, unsigned width)
{
	if (width == 2) {
		if (e->x + 2 > s->cols)
			*e = (struct extent){e->rows + 1, 0};
		e->x += 2;
		return;
	}
	size_t x = e->x + n;
	assert(s->cols > 0);
	if (x > s->cols) {
		unsigned more = (unsigned)((x - 1) / s->cols);
		e->rows += more;
		x -= (size_t)more * s->cols;
	}
	e->x = (unsigned)x;
}

static void measure(const struct screen *s, const struct piece *piece, struct extent *e)
{
	if (piece->type == PIECE_ASCII)
		extend(s, e, (size_t)(piece->end - piece->at), 1);
	else if (piece->type == PIECE_CHARACTER || piece->type == PIECE_CLUSTER)
		extend(s, e, 1, piece->width);
	else if (piece->type == PIECE_TAB && e->x < s->cols)
		e->x = buffer_next_tab(s->active, e->x, s->cols);
}

/* Minimum number of rows of a line. */
static unsigned rows_of_line(const struct screen *s, const uint8_t *at, const uint8_t *end)
{
	struct extent e = {.rows = 1};
	struct piece piece;
	do {
		piece = piece_at(at, end);
		measure(s, &piece, &e);
		at = piece.end;
	} while (piece.type > PIECE_NONE && piece.type < PIECE_END);
	return e.rows;
}

/* Start of the last lines before `end` that fill the screen. */
static const uint8_t *last_screenful(
	const struct screen *s, const uint8_t *start, const uint8_t *end)
{
	unsigned rows = 0;
	while (rows < s->rows && end > start) {
		const uint8_t *at = bulk_line_before(start, end);
		rows += rows_of_line(s, at, end);
		end = at;
	}
	return end;
}

/* Putting lines into the scrollback */

static void begin_row(struct bulk *b, bool wrapped)
{
	b->row = packing_begin(b->s->parser.offset, wrapped);
	b->x = 0;
	b->fill = screen_blank(b->s).style;
}

/* Cells skipped by a tab keep their blank style. */
static void fill_up(struct bulk *b, unsigned x)
{
	packing_blank(b->row, x - b->row->cells, b->fill);
}

static void end_row(struct bulk *b)
{
	if (b->fill != 0)
		fill_up(b, b->s->cols);
	scrollback_put_packing(&b->s->scrollback, b->row);
}

static void wrap_row(struct bulk *b)
{
	end_row(b);
	begin_row(b, true);
}

static void put_ascii(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	uint32_t style = screen_pen_style(s);
	for (const uint8_t *at = piece->at; at < piece->end;) {
		if (b->x == s->cols)
			wrap_row(b);
		size_t space = s->cols - b->x, left = (size_t)(piece->end - at);
		unsigned n = left < space ? (unsigned)left : (unsigned)space;
		fill_up(b, b->x);
		packing_ascii(b->row, at, n, style);
		b->x += n;
		s->parser.offset += n;
		at += n;
	}
}

/* Intern a character and the marks that join it. Returns the cell's text. */
static uint32_t join(struct screen *s, const struct piece *piece)
{
	uint32_t codes[SCREEN_CLUSTER_MAX];
	size_t count = 0;
	for (const uint8_t *at = piece->at; at < piece->end && count < SCREEN_CLUSTER_MAX;)
		at += utf8_read(at, &codes[count++]);
	uint32_t cluster = screen_put_cluster(s, codes, count);
	/* Drop marks until it fits, as if they had been joined one by one. */
	while (cluster == 0 && --count > 1)
		cluster = screen_put_cluster(s, codes, count);
	return cell_make(cluster ? CELL_CLUSTER | cluster : codes[0], piece->width, 0).text;
}

static void pack_character(struct bulk *b, const struct piece *piece, uint32_t style)
{
	if (piece->type == PIECE_CHARACTER)
		packing_character(
			b->row, piece->at, (unsigned)(piece->end - piece->at), piece->width, style);
	else
		packing_cell(b->row, (struct cell){join(b->s, piece), style});
}

static void put_character(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	uint32_t style = screen_pen_style(s);
	fill_up(b, b->x);
	if (b->x + piece->width > s->cols) {
		/* The column that is left free before a wide character. */
		packing_blank(b->row, s->cols - b->x, style);
		wrap_row(b);
	}
	pack_character(b, piece, style);
	b->x += piece->width;
	s->parser.offset += (uint64_t)(piece->end - piece->at);
}

static void set_pen(struct screen *s, const struct piece *piece)
{
	parser_feed(&s->parser, piece->at, (size_t)(piece->end - piece->at), NULL);
}

/* Cells to the right stay blank, but may change colour. */
static void erase_right(struct bulk *b)
{
	uint32_t blank = screen_blank(b->s).style;
	if (b->x == b->s->cols || blank == b->fill)
		return;
	fill_up(b, b->x);
	b->fill = blank;
}

static void put_piece(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	switch (piece->type) {
	case PIECE_ASCII:
		put_ascii(b, piece);
		break;
	case PIECE_CHARACTER:
	case PIECE_CLUSTER:
		put_character(b, piece);
		break;
	case PIECE_TAB:
		if (b->x < s->cols)
			b->x = buffer_next_tab(s->active, b->x, s->cols);
		s->parser.offset++;
		break;
	case PIECE_PEN:
		set_pen(s, piece);
		break;
	case PIECE_EL:
		erase_right(b);
		s->parser.offset += (uint64_t)(piece->end - piece->at);
		break;
	default:
		s->parser.offset += (uint64_t)(piece->end - piece->at);
	}
}

/*
 * Sweep unused styles, clusters and links. Only between two lines: while a line is being packed,
 * the tables do not count its uses.
 */
static void sweep(struct screen *s)
{
	s->defer_sweeps = false;
	screen_sweep(s, &s->styles);
	screen_sweep(s, &s->clusters);
	screen_sweep(s, &s->links);
	s->defer_sweeps = true;
}

/*
 * Print a line into the bottom row, and the lines that it wraps into. All other rows are missing.
 * Returns how many rows were pushed out.
 */
static unsigned print_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	unsigned bottom = s->active->bottom;
	if (!b->bottom_is_real)
		screen_renew_bottom(s);
	s->missing = bottom;
	s->defer_sweeps = false;
	parser_feed(&s->parser, b->at, (size_t)(end - b->at), NULL);
	s->defer_sweeps = true;
	b->at = end;
	b->bottom_is_real = true;
	return bottom - s->missing;
}

static void put_odd_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	print_line(b, end);
	for (unsigned y = s->missing; y < s->active->bottom; y++)
		scrollback_push(&s->scrollback, screen_line(s, y));
}

static void put_usual_line(struct bulk *b, const uint8_t *end)
{
	struct piece piece;
	do {
		piece = piece_at(b->at, end);
		assert(piece.type != PIECE_NONE);
		put_piece(b, &piece);
		b->at = piece.end;
	} while (piece.type != PIECE_END);
	end_row(b);
	b->bottom_is_real = false;
}

static const uint8_t *line_end(const uint8_t *at)
{
	return (const uint8_t *)rawmemchr(at, '\n') + 1;
}

/* Put a line into the scrollback. The first row of a line is begun before the call. */
static void put_line(struct bulk *b)
{
	const uint8_t *text_end = parser_text_end(b->at, b->end), *end = line_end(text_end);
	if (bulk_is_odd(b->at, text_end, end))
		put_odd_line(b, end);
	else
		put_usual_line(b, end);
	sweep(b->s);
	begin_row(b, false);
}

/* Whether a line surely fits into one row and has no escapes. Only tabs exceed their bytes. */
static bool is_short(const struct bulk *b, const uint8_t *at, const uint8_t *end)
{
	size_t columns = (size_t)(end - at);
	if (columns > b->s->cols)
		return false;
	for (const uint8_t *p = at; p < end; p++) {
		if (*p == 0x1b)
			return false;
		columns += *p == '\t' ? b->tab_width - 1 : 0;
	}
	return columns <= b->s->cols;
}

static unsigned count_usual_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	struct extent e = {.rows = 1};
	struct piece piece;
	do {
		piece = piece_at(b->at, end);
		assert(piece.type != PIECE_NONE);
		measure(s, &piece, &e);
		if (piece.type == PIECE_PEN)
			set_pen(s, &piece);
		else
			s->parser.offset += (uint64_t)(piece.end - piece.at);
		b->at = piece.end;
	} while (piece.type != PIECE_END);
	b->bottom_is_real = false;
	return e.rows;
}

/* Count a line that scrolls away. Returns its rows, without those that it pushed itself. */
static unsigned count_line(struct bulk *b)
{
	const uint8_t *end = line_end(b->at);
	if (is_short(b, b->at, end)) {
		b->s->parser.offset += (uint64_t)(end - b->at);
		b->at = end;
		b->bottom_is_real = false;
		return 1;
	}
	if (bulk_is_odd(b->at, b->at, end))
		return print_line(b, end);
	return count_usual_line(b, end);
}

/* Push the screen's rows, and continue with the bottom row. */
static void begin_behind_rows(struct bulk *b)
{
	struct screen *s = b->s;
	screen_push_rows(s, s->active->bottom);
	begin_row(b, false);
	b->row->offset = screen_line(s, s->active->bottom)->offset;
	b->fill = 0;
}

static unsigned widest_tab(const struct screen *s)
{
	unsigned most = 1;
	for (unsigned x = 0, next; x + 1 < s->cols; x = next) {
		next = buffer_next_tab(s->active, x, s->cols);
		most = next - x > most ? next - x : most;
	}
	return most;
}

/* Count the screen's rows and all lines up to `end`. */
static void begin_behind_lines(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	uint64_t rows = s->active->bottom;
	b->tab_width = widest_tab(s);
	while (b->at < end) {
		rows += count_line(b);
		screen_add_work(s, PASSED_LINE_WORK);
	}
	scrollback_skip(&s->scrollback, rows);
	begin_row(b, false);
}

/* Put lines up to `last` into the scrollback; only count those up to `unseen`. */
static void put_lines(struct bulk *b, const uint8_t *unseen, const uint8_t *last)
{
	struct screen *s = b->s;
	s->defer_sweeps = true;
	if (unseen > b->at)
		begin_behind_lines(b, unseen);
	else
		begin_behind_rows(b);
	while (b->at < last) {
		put_line(b);
		screen_add_work(s, LINE_WORK);
	}
	s->defer_sweeps = false;
	if (!b->bottom_is_real)
		screen_renew_bottom(s);
}

bool screen_bulk_can_begin(const struct screen *s)
{
	const struct buffer *b = s->active;
	return s->parser.offset >= s->bulk_at && b == &s->primary && b->x == 0 && b->top == 0 &&
		b->bottom == s->rows - 1 && b->y == b->bottom && screen_charset(s) == 'B' &&
		s->modes.wraparound && !s->modes.insert && !s->modes.graphemes &&
		parser_is_ground(&s->parser);
}

size_t screen_bulk(struct screen *s, const uint8_t *bytes, size_t length)
{
	const struct line *line = screen_line(s, s->active->bottom);
	const uint8_t *end, *stop = bytes, *last, *unseen = bytes;
	size_t work = s->work_max - s->work,
	       most = work < BYTES_MIN             ? BYTES_MIN
		: work > SIZE_MAX / BYTES_PER_WORK ? SIZE_MAX
						   : work * BYTES_PER_WORK;
	if (line->used > 0 || line->wrapped)
		return 0;
	size_t lines = bulk_count_lines(bytes, bytes + (length < most ? length : most), &end, &stop);
	s->bulk_at = s->parser.offset + (uint64_t)(stop - bytes);
	if (lines < 2 * s->rows)
		return 0;
	last = last_screenful(s, bytes, end);
	if ((size_t)(end - last) > SCREENFUL_MAX)
		return 0;
	if (lines > s->scrollback.max)
		unseen = bulk_last_lines(bytes, last, s->scrollback.max);
	struct bulk b = {.s = s, .at = bytes, .end = end, .bottom_is_real = true};
	put_lines(&b, unseen, last);
	/* The screen's rows are in the scrollback already. */
	s->missing = s->active->bottom;
	parser_feed(&s->parser, last, (size_t)(end - last), NULL);
	assert(s->missing == 0);
	screen_add_work(s, (size_t)(last - bytes) / BYTES_PER_WORK);
	return (size_t)(end - bytes);
}
