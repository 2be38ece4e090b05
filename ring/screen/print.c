/*
 * Printing of characters and runs of ASCII, with the semantics of xterm.js: cells up to the right
 * edge, wraps, combining marks, and halves of wide characters at the ends of a run.
 */
#include "ring/screen/grid/charset.h"
#include "ring/screen/grid/grapheme.h"
#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"
#include "ring/screen/grid/width.h"

#include <assert.h>
#include <string.h>

#define BEHIND_EDGE (2 * SCREEN_SIDE_MAX)
#define SOFT_HYPHEN 0xad
/* After this many repetitions one by one, further ones repeat the same pattern. */
#define REPEAT_SLOWLY 64u

/* If a run begins in the second half of a wide character, blank the first half. */
static void begin_run(struct screen *s, struct line *line)
{
	unsigned x = s->active->x;
	if (!s->in_run && x > 0 && x <= line->length && cell_width(line->cells[x - 1]) == 2)
		line_put(line, x - 1, screen_pen_blank(s));
	s->in_run = true;
}

/* If it ends in the first half of one, blank the second half. */
static void end_run(struct screen *s, struct line *line)
{
	unsigned x = s->active->x;
	if (x < s->cols && x < line->length && cell_is_tail(line->cells[x]))
		line_put(line, x, screen_pen_blank(s));
}

/* The line is full: continue in the next one. */
static struct line *wrap(struct screen *s, struct line *line)
{
	struct buffer *b = s->active;
	unsigned free = b->x;
	for (unsigned x = free; x < s->cols; x++)
		line_put(line, x, screen_pen_blank(s));
	b->x = 0;
	b->y++;
	if (b->y == b->bottom + 1) {
		b->y--;
		screen_scroll(s, true);
		line = screen_touch(s, b->y);
		/*
		 * xterm.js blanks the free columns after scrolling, which hits the new line if the
		 * screen has one row.
		 */
		if (s->rows == 1 && (b == &s->alternate || s->scrollback.max == 0))
			for (unsigned x = free; x < s->cols; x++)
				line_put(line, x, screen_pen_blank(s));
		return line;
	}
	if (b->y >= s->rows)
		b->y = s->rows - 1;
	line = screen_touch(s, b->y);
	line->wrapped = true;
	return line;
}

/* A combining mark joins the character before the cursor. */
static void join(struct screen *s, struct line *line, uint32_t code)
{
	unsigned x = s->active->x, back = cell_width(line->cells[x - 1]) > 0 ? 1 : 2;
	if (x < back)
		return;
	struct cell *cell = &line->cells[x - back];
	uint32_t codes[SCREEN_CLUSTER_MAX];
	size_t count = 0;
	if (cell->text & CELL_CLUSTER) {
		size_t bytes = 0;
		const uint32_t *old = intern_get(&s->clusters, cell->text & CELL_CODE, &bytes);
		count = bytes / sizeof *codes;
		for (size_t i = 0; i < count && old; i++)
			codes[i] = old[i];
	} else if (cell->text & CELL_CODE) {
		codes[count++] = cell->text & CELL_CODE;
	} else {
		line_put(line, x - back, cell_make(code, s->join, cell->style));
		return;
	}
	uint32_t cluster = 0;
	if (count < SCREEN_CLUSTER_MAX) {
		codes[count++] = code;
		cluster = screen_put_cluster(s, codes, count);
	}
	/* A character that does not fit into the cluster still changes its width. */
	uint32_t content = cluster != 0 ? CELL_CLUSTER | cluster : cell->text & CELL_CONTENT;
	cell->text = cell_make(content, s->join, 0).text;
}

/* A cluster in the last column becomes wider: move it to the next line. */
static struct line *wrap_cluster(struct screen *s, struct line *line, unsigned width)
{
	struct buffer *b = s->active;
	b->x -= width;
	screen_pen_style(s); /* no sweep may run while the cell is in no line */
	struct cell moved = b->x < line->length ? line->cells[b->x] : screen_blank(s);
	bool only = s->rows == 1 && (b == &s->alternate || s->scrollback.max == 0);
	line = wrap(s, line);
	/* xterm.js moves the cell after scrolling, so with one row it finds the new line blank. */
	line_put(line, 0, only ? screen_blank(s) : moved);
	b->x = width;
	return line;
}

/* State of the cluster before the cursor after one more character. */
static struct grapheme behind_cursor(const struct screen *s, uint32_t code)
{
	struct grapheme before = {.kind = s->join_kind, .width = (uint8_t)s->join};
	return grapheme_next(before, code);
}

/*
 * With clusters: join a character to the one before the cursor, which may become wider. Returns
 * false if it does not join; *ret_width is its width then. *line: the cursor's line, which may
 * change.
 */
static bool print_joined(
	struct screen *s, struct line **line, uint32_t code, uint64_t offset, unsigned *ret_width)
{
	struct buffer *b = s->active;
	struct grapheme next = behind_cursor(s, code);
	unsigned before = s->join;
	s->join = *ret_width = next.width;
	s->join_kind = next.kind;
	if (!next.joins)
		return false;
	if (b->x + next.width - before > s->cols && s->modes.wraparound) {
		*line = wrap_cluster(s, *line, before);
		(*line)->offset = offset;
	} else if (b->x + next.width - before > s->cols) {
		b->x = s->cols - 1;
		if (next.width == 2)
			return true;
	}
	if (b->x == 0)
		return false;
	if (b->x <= (*line)->length)
		join(s, *line, code);
	for (unsigned i = before; i < next.width; i++)
		line_put(*line, b->x++, cell_make(0, 0, screen_pen_style(s)));
	return true;
}

/* Without clusters: the same for a combining mark. */
static bool print_mark(struct screen *s, struct line *line, uint32_t code, unsigned *ret_width)
{
	unsigned x = s->active->x;
	*ret_width = width_of(code);
	if (*ret_width == 0 && s->join > 0 && x > 0 && x <= line->length) {
		join(s, line, code);
		return true;
	}
	s->join = *ret_width;
	return false;
}

/* offset: of the character's first byte. */
static void print(struct screen *s, uint32_t code, uint64_t offset)
{
	struct buffer *b = s->active;
	struct line *line = screen_touch(s, b->y);
	unsigned width;
	begin_run(s, line);
	if (code == SOFT_HYPHEN) { /* no cell, and a mark still joins the character before it */
		end_run(s, line);
		return;
	}
	if (code < 0x7f && screen_charset(s) != 'B')
		code = charset_map(screen_charset(s), code);
	screen_add_work(s, 1);
	if (s->modes.graphemes ? print_joined(s, &line, code, offset, &width)
			       : print_mark(s, line, code, &width)) {
		end_run(s, line);
		return;
	}
	if (b->x + width > s->cols) {
		if (s->modes.wraparound) {
			line = wrap(s, line);
			line->offset = offset;
		} else {
			b->x = s->cols - 1;
			if (width == 2) {
				end_run(s, line);
				return;
			}
		}
	}
	if (s->modes.insert) {
		screen_add_work(s, s->cols);
		/* A lone mark inserts nothing, but blanks the first half of a wide character. */
		if (b->x < line->length)
			line_insert(line, b->x, width, screen_pen_blank(s));
		if (cell_width(line->cells[s->cols - 1]) == 2)
			line_put(line, s->cols - 1, screen_pen_blank(s));
	}
	uint32_t style = screen_pen_style(s);
	line_put(line, b->x++, cell_make(code, width, style));
	if (width == 2)
		line_put(line, b->x++, cell_make(0, 0, style));
	/* Lone marks move the cursor beyond the edge, where nothing is visible. */
	if (b->x > BEHIND_EDGE)
		b->x = BEHIND_EDGE;
	end_run(s, line);
}

void screen_print(void *user, uint32_t code)
{
	struct screen *s = user;
	print(s, code, s->parser.offset - utf8_size(code));
}

static void put_ascii(
	struct cell *restrict cells, const uint8_t *restrict ascii, size_t n, uint32_t style)
{
	for (size_t i = 0; i < n; i++)
		cells[i] = (struct cell){.text = ascii[i], .style = style};
}

void screen_print_ascii(void *user, const uint8_t *ascii, size_t length)
{
	struct screen *s = user;
	bool joins = s->modes.graphemes && behind_cursor(s, ascii[0]).joins;
	if (screen_charset(s) != 'B' || s->modes.insert || joins) {
		for (size_t i = 0; i < length; i++)
			print(s, ascii[i], s->parser.offset - (length - i));
		return;
	}
	struct buffer *b = s->active;
	struct line *line = screen_touch(s, b->y);
	uint32_t style = screen_pen_style(s);
	begin_run(s, line);
	for (size_t i = 0; i < length;) {
		if (b->x >= s->cols && s->modes.wraparound) {
			line = wrap(s, line);
			line->offset = s->parser.offset - (length - i);
		} else if (b->x >= s->cols) {
			/* Each character overwrites the last column: print only the last one. */
			b->x = s->cols - 1;
			i = length - 1;
		}
		size_t space = s->cols - b->x;
		size_t n = length - i < space ? length - i : space;
		put_ascii(line->cells + b->x, ascii + i, n, style);
		b->x += (unsigned)n;
		if (b->x > line->used)
			line->used = b->x;
		i += n;
	}
	s->join = 1;
	s->join_kind = 0;
	end_run(s, line);
	screen_add_work(s, length);
}

/* The cell just printed if it holds exactly this character, otherwise NULL. */
static struct cell *printed(struct screen *s, uint32_t code)
{
	unsigned x = s->active->x, width = s->join;
	struct line *line = screen_touch(s, s->active->y);
	if (width == 0 || x < width || x > line->length || width != width_of(code))
		return NULL;
	struct cell *cell = &line->cells[x - width];
	bool whole = cell_width(line->cells[x - 1]) == 2 - width;
	return whole && cell->text == cell_make(code, width, 0).text ? cell : NULL;
}

/* Print the characters of a cell. */
static void print_codes(struct screen *s, const uint32_t *codes, size_t count)
{
	screen_print(s, codes[0]);
	/* Join all marks at once: one by one takes quadratic time. */
	struct cell *cell = count > 1 ? printed(s, codes[0]) : NULL;
	uint32_t cluster = cell ? screen_put_cluster(s, codes, count) : 0;
	if (cluster != 0) {
		cell->text = cell_make(CELL_CLUSTER | cluster, s->join, 0).text;
		screen_add_work(s, count);
		return;
	}
	for (size_t i = 1; i < count; i++)
		screen_print(s, codes[i]);
}

static void print_all(struct screen *s, const uint32_t *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		screen_print(s, codes[i]);
}

/* Print up to n copies of a cell in the cursor's row, as many as fit. Returns their number. */
static unsigned put_stretch(struct screen *s, struct line *line, struct cell cell, unsigned n)
{
	struct buffer *b = s->active;
	unsigned width = cell_width(cell), space = (s->cols - b->x) / width;
	assert(line);
	n = n < space ? n : space;
	if (s->modes.insert) {
		line_insert(line, b->x, n * width, screen_pen_blank(s));
		if (cell_width(line->cells[s->cols - 1]) == 2)
			line_put(line, s->cols - 1, screen_pen_blank(s));
		screen_add_work(s, s->cols);
	}
	for (unsigned i = 0; i < n; i++) {
		line->cells[b->x++] = cell;
		if (width == 2)
			line->cells[b->x++] = cell_make(0, 0, cell.style);
	}
	if (b->x > line->used)
		line->used = b->x;
	screen_add_work(s, n * width / 8 + 1);
	return n;
}

/* Whether no row from the cursor on has cells right of the edge. */
static bool next_are_plain(const struct screen *s)
{
	const struct buffer *b = s->active;
	for (unsigned y = b->y; b == &s->alternate && y < s->rows; y++)
		if (screen_line(s, y)->length != s->cols)
			return false;
	return true;
}

/*
 * With a wrap pending, print `rows` full rows of a cell, as one shared line. At least one more cell
 * follows. Returns the rows done.
 */
static unsigned put_rows(struct screen *s, struct cell cell, unsigned rows, uint64_t offset)
{
	struct buffer *b = s->active;
	struct line *line = screen_make_line(s);
	unsigned x = b->x, left = rows;
	if (!line)
		return 0;
	struct line *last = screen_touch(s, b->y);
	for (; x < s->cols; x++)
		line_put(last, x, screen_pen_blank(s));
	b->x = 0;
	bool insert = s->modes.insert;
	s->modes.insert = false;
	put_stretch(s, line, cell, s->cols);
	s->modes.insert = insert;
	for (x = b->x; x < s->cols; x++)
		line_put(line, x, screen_pen_blank(s));
	line->wrapped = true;
	line->offset = offset;
	while (left > 0 && b->y != b->bottom && b->y + 1 < s->rows) {
		b->y++;
		left--;
		screen_set_rows(s, b->y, b->y + 1, line);
	}
	if (left > 0 && b->y == b->bottom)
		screen_scroll_in(s, left, line);
	else if (left > 0)
		screen_set_rows(s, b->y, b->y + 1, line);
	line_unref(line);
	screen_add_work(s, s->cols / 8);
	return rows;
}

/* Print n copies of a cell. offset: of its first byte. */
static void repeat_cell(struct screen *s, struct cell cell, unsigned n, uint64_t offset)
{
	struct buffer *b = s->active;
	unsigned width = cell_width(cell), row = s->cols / width;
	while (n > 0) {
		unsigned rows = b->x + width > s->cols ? (n - 1) / row : 0;
		if (rows > 1)
			n -= put_rows(s, cell, rows, offset) * row;
		bool wraps = b->x + width > s->cols, has_space = b->x < s->cols;
		struct line *line = wraps && !has_space ? NULL : screen_touch(s, b->y);
		if (wraps) {
			line = wrap(s, line);
			line->offset = offset;
		}
		assert(line);
		n -= put_stretch(s, line, cell, n);
	}
	end_run(s, screen_touch(s, b->y));
}

/*
 * The same for a cluster. If the copies join each other, the screen soon repeats, so a multiple of
 * its period is skipped.
 */
static void repeat_cluster(struct screen *s, const uint32_t *codes, size_t count, unsigned n)
{
	const struct buffer *b = s->active;
	unsigned done = 0;
	for (; done < n && done < 2; done++)
		print_all(s, codes, count);
	bool joins = behind_cursor(s, codes[0]).joins;
	unsigned width = s->join, left = n - done;
	const struct line *line = screen_line(s, b->y);
	struct cell cell = b->x >= width && b->x <= line->length ? line->cells[b->x - width]
								 : (struct cell){0};
	bool narrow = width == 2 && grapheme_next((struct grapheme){0}, codes[0]).width == 1,
	     alone = !joins && done == 2 && cell_has_content(cell) && cell_width(cell) == width;
	if (left > 0 && alone && !narrow && s->modes.wraparound && b->x <= s->cols &&
		next_are_plain(s)) {
		repeat_cell(s, cell, left, s->parser.offset - utf8_size(codes[0]));
		return;
	}
	unsigned row = s->cols / width,
		 most = 2 * ((s->modes.wraparound ? (s->rows + 1) * row : row) + REPEAT_SLOWLY);
	if (left > most)
		left = most + (left - most) % (2 * row);
	for (; left > 0; left--)
		print_all(s, codes, count);
}

void screen_repeat(struct screen *s, unsigned n)
{
	struct buffer *b = s->active;
	const struct line *line = screen_line(s, b->y);
	if (s->join == 0 || b->x < s->join || b->x - s->join >= line->length)
		return;
	struct cell cell = line->cells[b->x - s->join];
	if (!cell_has_content(cell))
		return;
	/* Copy the codes: the cell and its cluster may be freed meanwhile. */
	size_t bytes = sizeof(uint32_t);
	uint32_t codes[SCREEN_CLUSTER_MAX] = {cell.text & CELL_CODE};
	if (cell.text & CELL_CLUSTER) {
		const void *cluster = intern_get(&s->clusters, cell.text & CELL_CODE, &bytes);
		memcpy(codes, cluster, bytes);
	}
	size_t count = bytes / sizeof *codes;
	s->in_run = false;
	if (s->modes.graphemes) {
		repeat_cluster(s, codes, count, n);
		return;
	}
	print_codes(s, codes, count);
	unsigned width = s->join;
	line = screen_line(s, b->y);
	/* All further copies equal the first if it has a cell of its own. */
	cell = b->x >= width && width > 0 && b->x <= line->length ? line->cells[b->x - width]
								  : (struct cell){0};
	bool whole = width_of(codes[0]) > 0 && cell_has_content(cell) &&
		cell_width(cell) == width && b->x <= s->cols;
	if (n > 1 && whole && s->modes.wraparound && next_are_plain(s)) {
		repeat_cell(s, cell, n - 1, s->parser.offset - utf8_size(codes[0]));
		return;
	}
	/* Without wrapping, all further copies end at the edge. */
	if (!s->modes.wraparound && n > s->cols + REPEAT_SLOWLY)
		n = s->cols + REPEAT_SLOWLY;
	/* Beyond the edge, more than a screenful only scrolls further. */
	unsigned most = (s->rows + 1) * s->cols + REPEAT_SLOWLY,
		 row = width > 0 ? s->cols / width : 1;
	if (n > most)
		n = most + (n - most) % row;
	for (unsigned i = 1; i < n; i++)
		print_codes(s, codes, count);
}
