/*
 * Text in bulk: whole lines of text, with tabs and colours at most, that scroll through the screen faster than anybody can
 * look. They go into the scrollback as they come, and those that are out of it again before the end are only counted;
 * the last screenful is printed as anything else is. What comes out is the same as if all had been.
 *
 * Bulk begins where a line does, at the bottom of a screen that scrolls as a whole. What is no bulk is left to the parser,
 * and looked at again behind the place that has ended it.
 */
#include "ring/screen/bulk_line.h"
#include "ring/screen/bulk_piece.h"
#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"

#include <assert.h>
#include <string.h>

#define SCREENFUL_MAX ((size_t)256 << 10) /* bytes, for it has to be printed at once */
#define BYTES_MIN ((size_t)16 << 10)      /* fewer are not worth stopping for */
#define BYTES_PER_WORK 8u                 /* so much takes as long as touching a cell */
#define LINE_WORK 8u
#define PASSED_LINE_WORK 2u

/* Rows that a line takes, and the column that its cursor is in: `cols` while a wrap is pending. */
struct extent {
	unsigned rows, x;
};

/* Lines that are being taken. */
struct bulk {
	struct screen *s;
	const uint8_t *at, *end;
	struct packing *row; /* the one that is being filled */
	unsigned x;          /* the cursor in it */
	uint32_t fill;       /* style of the cells that it begins with */
	unsigned tab_width;  /* the most that a tab takes */
	bool bottom_is_real; /* it is the row at the bottom as well */
};

/* Rows and columns */

/* The cursor moves on by n columns of characters that are so wide. */
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

/* Rows of a line, at least. */
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

/* Where the last lines before `end` begin that fill the screen. */
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

/* Taking */

static void begin_row(struct bulk *b, bool wrapped)
{
	b->row = packing_begin(b->s->parser.offset, wrapped);
	b->x = 0;
	b->fill = screen_blank(b->s).style;
}

/* What a tab has left out is as it was. */
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

static void take_ascii(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	uint32_t style = screen_pen_style(s);
	for (const uint8_t *at = piece->at; at < piece->end;) {
		if (b->x == s->cols)
			wrap_row(b);
		size_t room = s->cols - b->x, left = (size_t)(piece->end - at);
		unsigned n = left < room ? (unsigned)left : (unsigned)room;
		fill_up(b, b->x);
		packing_ascii(b->row, at, n, style);
		b->x += n;
		s->parser.offset += n;
		at += n;
	}
}

/* A character, in what the bytes of one have, with what joins it. Returns the cell's text. */
static uint32_t join(struct screen *s, const struct piece *piece)
{
	uint32_t codes[SCREEN_CLUSTER_MAX];
	size_t count = 0;
	for (const uint8_t *at = piece->at; at < piece->end && count < SCREEN_CLUSTER_MAX;)
		at += utf8_read(at, &codes[count++]);
	uint32_t cluster = screen_put_cluster(s, codes, count);
	/* As one mark after the other would have joined it, before there was no more room. */
	while (cluster == 0 && --count > 1)
		cluster = screen_put_cluster(s, codes, count);
	return cell_make(cluster ? CELL_CLUSTER | cluster : codes[0], piece->width, 0).text;
}

static void put_character(struct bulk *b, const struct piece *piece, uint32_t style)
{
	if (piece->type == PIECE_CHARACTER)
		packing_character(
			b->row, piece->at, (unsigned)(piece->end - piece->at), piece->width, style);
	else
		packing_cell(b->row, (struct cell){join(b->s, piece), style});
}

static void take_character(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	uint32_t style = screen_pen_style(s);
	fill_up(b, b->x);
	if (b->x + piece->width > s->cols) {
		/* The column that a wide character leaves free. */
		packing_blank(b->row, s->cols - b->x, style);
		wrap_row(b);
	}
	put_character(b, piece, style);
	b->x += piece->width;
	s->parser.offset += (uint64_t)(piece->end - piece->at);
}

static void take_pen(struct screen *s, const struct piece *piece)
{
	parser_feed(&s->parser, piece->at, (size_t)(piece->end - piece->at), NULL);
}

/* What lies to the right is as blank as it was, but maybe in another colour. */
static void take_el(struct bulk *b)
{
	uint32_t blank = screen_blank(b->s).style;
	if (b->x == b->s->cols || blank == b->fill)
		return;
	fill_up(b, b->x);
	b->fill = blank;
}

static void take_piece(struct bulk *b, const struct piece *piece)
{
	struct screen *s = b->s;
	switch (piece->type) {
	case PIECE_ASCII:
		take_ascii(b, piece);
		break;
	case PIECE_CHARACTER:
	case PIECE_CLUSTER:
		take_character(b, piece);
		break;
	case PIECE_TAB:
		if (b->x < s->cols)
			b->x = buffer_next_tab(s->active, b->x, s->cols);
		s->parser.offset++;
		break;
	case PIECE_PEN:
		take_pen(s, piece);
		break;
	case PIECE_EL:
		take_el(b);
		s->parser.offset += (uint64_t)(piece->end - piece->at);
		break;
	default:
		s->parser.offset += (uint64_t)(piece->end - piece->at);
	}
}

/* What nobody uses may be forgotten between two lines, not while one is being packed: nobody else knows what that uses. */
static void sweep(struct screen *s)
{
	s->sweeps_wait = false;
	screen_sweep(s, &s->styles);
	screen_sweep(s, &s->clusters);
	screen_sweep(s, &s->links);
	s->sweeps_wait = true;
}

/*
 * A line is printed into the row at the bottom, as are those that it wraps into; all others are missing. Returns how many
 * rows were pushed out of that.
 */
static unsigned print_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	unsigned bottom = s->active->bottom;
	if (!b->bottom_is_real)
		screen_renew_bottom(s);
	s->missing = bottom;
	s->sweeps_wait = false;
	parser_feed(&s->parser, b->at, (size_t)(end - b->at), NULL);
	s->sweeps_wait = true;
	b->at = end;
	b->bottom_is_real = true;
	return bottom - s->missing;
}

static void take_odd_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	print_line(b, end);
	for (unsigned y = s->missing; y < s->active->bottom; y++)
		scrollback_push(&s->scrollback, screen_line(s, y));
}

static void take_usual_line(struct bulk *b, const uint8_t *end)
{
	struct piece piece;
	do {
		piece = piece_at(b->at, end);
		assert(piece.type != PIECE_NONE);
		take_piece(b, &piece);
		b->at = piece.end;
	} while (piece.type != PIECE_END);
	end_row(b);
	b->bottom_is_real = false;
}

static const uint8_t *line_end(const uint8_t *at)
{
	return (const uint8_t *)rawmemchr(at, '\n') + 1;
}

/* A line goes into the scrollback. Its first row has been begun; that of the next one is. */
static void take_line(struct bulk *b)
{
	const uint8_t *text_end = parser_text_end(b->at, b->end), *end = line_end(text_end);
	if (bulk_is_odd(b->at, text_end, end))
		take_odd_line(b, end);
	else
		take_usual_line(b, end);
	sweep(b->s);
	begin_row(b, false);
}

/* Whether a line has one row, whatever it is, and leaves the pen as it was: no byte but a tab takes more than a column. */
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

static unsigned pass_usual_line(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	struct extent e = {.rows = 1};
	struct piece piece;
	do {
		piece = piece_at(b->at, end);
		assert(piece.type != PIECE_NONE);
		measure(s, &piece, &e);
		if (piece.type == PIECE_PEN)
			take_pen(s, &piece);
		else
			s->parser.offset += (uint64_t)(piece.end - piece.at);
		b->at = piece.end;
	} while (piece.type != PIECE_END);
	b->bottom_is_real = false;
	return e.rows;
}

/* A line is gone before anybody can see it. Returns how many rows it was, without those that it has pushed itself. */
static unsigned pass_line(struct bulk *b)
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
	return pass_usual_line(b, end);
}

/* The rows that there are go up, and the first of bulk is the one at the bottom. */
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

/* They go, as do all lines up to `end`. */
static void begin_behind_lines(struct bulk *b, const uint8_t *end)
{
	struct screen *s = b->s;
	uint64_t rows = s->active->bottom;
	b->tab_width = widest_tab(s);
	while (b->at < end) {
		rows += pass_line(b);
		screen_worked(s, PASSED_LINE_WORK);
	}
	scrollback_pass(&s->scrollback, rows);
	begin_row(b, false);
}

/* Lines up to `last` go through, those up to `unseen` out of the scrollback as well. */
static void take_lines(struct bulk *b, const uint8_t *unseen, const uint8_t *last)
{
	struct screen *s = b->s;
	s->sweeps_wait = true;
	if (unseen > b->at)
		begin_behind_lines(b, unseen);
	else
		begin_behind_rows(b);
	while (b->at < last) {
		take_line(b);
		screen_worked(s, LINE_WORK);
	}
	s->sweeps_wait = false;
	if (!b->bottom_is_real)
		screen_renew_bottom(s);
}

bool screen_bulk_may_begin(const struct screen *s)
{
	const struct buffer *b = s->active;
	return s->parser.offset >= s->bulk_at && b == &s->primary && b->x == 0 && b->top == 0 &&
		b->bottom == s->rows - 1 && b->y == b->bottom && s->charsets.current == 'B' &&
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
	take_lines(&b, unseen, last);
	/* The rows that there are now are in the scrollback already. */
	s->missing = s->active->bottom;
	parser_feed(&s->parser, last, (size_t)(end - last), NULL);
	assert(s->missing == 0);
	screen_worked(s, (size_t)(last - bytes) / BYTES_PER_WORK);
	return (size_t)(end - bytes);
}
