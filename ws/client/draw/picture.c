/*
 * An answer contains changed rows, each as runs of cells in one style, or as plain text. Each run
 * names its column, so that a different width of a character shifts only its own run. Numbers in
 * answers are clamped to the picture.
 */
#include "ws/client/draw/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number_of(const json_t *object, const char *name, uint64_t most)
{
	json_int_t n = json_integer_value(json_object_get(object, name));
	return n < 0 ? 0 : (uint64_t)n > most ? most : (uint64_t)n;
}

static uint32_t color_of(const json_t *run, const char *name)
{
	const json_t *value = json_object_get(run, name);
	const char *text = json_string_value(value);
	if (json_is_integer(value))
		return (uint32_t)number_of(run, name, 255);
	if (!text || text[0] != '#' || strlen(text) != 7)
		return PEN_DEFAULT;
	return PEN_RGB | ((uint32_t)strtoul(text + 1, NULL, 16) & 0xffffff);
}

static struct pen pen_of(const json_t *run)
{
	static const struct {
		const char *name;
		unsigned attribute;
	} names[] = {{"bold", PEN_BOLD}, {"dim", PEN_DIM}, {"italic", PEN_ITALIC},
		{"inverse", PEN_INVERSE}, {"strike", PEN_STRIKE}};
	struct pen pen = {.fg = color_of(run, "fg"), .bg = color_of(run, "bg")};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_is_true(json_object_get(run, names[i].name)))
			pen.attributes |= names[i].attribute;
	if (json_object_get(run, "underline"))
		pen.attributes |= PEN_UNDERLINE;
	return pen;
}

static void clear_row(struct picture *p, unsigned row)
{
	for (unsigned i = 0; i < p->kept; i++)
		p->cells[(size_t)row * p->kept + i] = (struct picture_cell){
			.glyph = {.width = 1}, .pen = {.fg = PEN_DEFAULT, .bg = PEN_DEFAULT}};
}

/* Put a text at a column. All its columns get the style of run, also behind the end of the text. */
static void put_text(struct picture *p, unsigned row, unsigned column, unsigned columns,
	const json_t *text, const json_t *run)
{
	struct picture_cell *cells = p->cells + (size_t)row * p->kept;
	const char *s = json_string_value(text), *end = s ? s + json_string_length(text) : s;
	struct glyph g;
	struct pen pen = pen_of(run);
	unsigned last = column + columns < p->kept ? column + columns : p->kept;
	bool hidden = json_is_true(json_object_get(run, "conceal"));
	for (unsigned i = column; i < last; i++)
		cells[i].pen = pen;
	while (s && !hidden && column < last && glyph_next(&s, end, &g)) {
		if (column + g.width > last)
			break;
		cells[column].glyph = g;
		if (g.width == 2)
			cells[column + 1].glyph = (struct glyph){.width = 0};
		column += g.width;
	}
}

static void set_row(struct picture *p, const json_t *line, uint64_t row)
{
	size_t i;
	json_t *run;
	const json_t *cells = json_object_get(line, "cells");
	if (row >= p->rows)
		return;
	clear_row(p, (unsigned)row);
	if (!cells)
		put_text(p, (unsigned)row, 0, p->kept, json_object_get(line, "text"), NULL);
	json_array_foreach (cells, i, run) {
		unsigned column = (unsigned)number_of(run, "column", p->kept);
		put_text(p, (unsigned)row, column, (unsigned)number_of(run, "columns", p->kept),
			json_object_get(run, "text"), run);
	}
}

/* Empty the picture, but keep what kind of answers to ask for. */
static void reset(struct picture *p, bool plain)
{
	bool wide = p->wide;
	picture_finish(p);
	p->wide = wide;
	p->plain = plain;
}

/* Set the size; a picture of another size is emptied. */
static int set_size(struct picture *p, unsigned rows, unsigned cols)
{
	unsigned most = p->wide ? PICTURE_WIDE_MAX : PICTURE_COLS_MAX;
	unsigned kept = cols < most ? cols : most;
	if (p->cells && p->rows == rows && p->cols == cols)
		return 0;
	reset(p, p->plain);
	p->cells = calloc((size_t)rows * kept, sizeof *p->cells);
	if (!p->cells)
		return -ENOMEM;
	p->rows = rows;
	p->cols = cols;
	p->kept = kept;
	for (unsigned row = 0; row < rows; row++)
		clear_row(p, row);
	return 0;
}

int picture_update(struct picture *p, const json_t *answer, uint64_t since)
{
	size_t i;
	json_t *line;
	const json_t *cursor = json_object_get(answer, "cursor");
	unsigned rows = (unsigned)number_of(answer, "rows", PICTURE_ROWS_MAX);
	unsigned cols = (unsigned)number_of(answer, "cols", UINT16_MAX);
	if (rows == 0 || cols == 0)
		return -EPROTO;
	bool changes = since > 0;
	if (changes && (since != p->version || rows != p->rows || cols != p->cols)) {
		reset(p, p->plain);
		return -EAGAIN;
	}
	int rc = set_size(p, rows, cols);
	if (rc < 0)
		return rc;
	if (json_is_integer(json_object_get(answer, "next")) && !p->plain) {
		reset(p, true);
		return -EAGAIN;
	}
	json_array_foreach (json_object_get(answer, "lines"), i, line)
		set_row(p, line, number_of(line, "row", UINT32_MAX));
	p->version = number_of(answer, "version", INT64_MAX);
	p->offset = number_of(answer, "offset", INT64_MAX);
	p->alternate = json_is_true(json_object_get(answer, "alternate"));
	p->cursor_row = (unsigned)number_of(cursor, "row", rows - 1);
	p->cursor_col = (unsigned)number_of(cursor, "col", cols - 1);
	p->cursor_visible = json_is_true(json_object_get(cursor, "visible"));
	return 0;
}

int picture_blank(struct picture *p, unsigned rows, unsigned cols)
{
	int rc = rows > 0 && rows <= PICTURE_ROWS_MAX && cols > 0 ? set_size(p, rows, cols)
								  : -EPROTO;
	for (unsigned row = 0; rc == 0 && row < p->rows; row++)
		clear_row(p, row);
	return rc;
}

void picture_set_lines(struct picture *p, const json_t *answer, uint64_t top)
{
	size_t i;
	json_t *line;
	json_array_foreach (json_object_get(answer, "lines"), i, line) {
		uint64_t number = number_of(line, "line", INT64_MAX);
		if (number >= top)
			set_row(p, line, number - top);
	}
}

void picture_toggle(
	struct picture *p, unsigned row, unsigned column, unsigned columns, unsigned attributes)
{
	for (unsigned i = column; row < p->rows && i < p->kept && i - column < columns; i++)
		p->cells[(size_t)row * p->kept + i].pen.attributes ^= attributes;
}

void picture_finish(struct picture *p)
{
	free(p->cells);
	*p = (struct picture){0};
}
