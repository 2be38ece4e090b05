/* Layouts as text, after layout-custom.c of tmux. Input is untrusted: sizes, depth and sums are checked. */
#include "ws/client/tmux/layout_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define SIDE_MAX ((int)MODEL_SIDE_MAX * 10) /* of a cell, which may be larger than its window */

static unsigned sum(const char *text)
{
	unsigned n = 0;
	for (; *text; text++) {
		n = (n >> 1) + ((n & 1) << 15);
		n = (n + (unsigned char)*text) & 0xffff;
	}
	return n;
}

static void write_cell(struct text *t, const struct cell *c)
{
	const struct cell *child;
	text_print(t, "%dx%d,%d,%d", c->cols, c->rows, c->x, c->y);
	if (c->type == CELL_PANE) {
		if (c->pane)
			text_print(t, ",%u", c->pane->id);
		return;
	}
	text_puts(t, c->type == CELL_ROW ? "{" : "[");
	DL_FOREACH (c->children, child) {
		if (child != c->children)
			text_puts(t, ",");
		write_cell(t, child);
	}
	text_puts(t, c->type == CELL_ROW ? "}" : "]");
}

char *layout_text_add_checksum(struct arena *a, const char *cells)
{
	return arena_print(a, "%04x,%s", sum(cells), cells);
}

char *layout_text_write(struct arena *a, const struct cell *root)
{
	struct text t = {.arena = a};
	if (!root)
		return arena_copy(a, "");
	write_cell(&t, root);
	return layout_text_add_checksum(a, text_get(&t));
}

char *layout_text_write_zoomed(struct arena *a, const struct window *w)
{
	struct cell all = {
		.type = CELL_PANE, .cols = (int)w->cols, .rows = (int)w->rows, .pane = w->active};
	return layout_text_write(a, w->zoomed ? &all : w->layout);
}

/* The state of parsing. */
struct reader {
	struct model *model;
	const char *at;
	unsigned cells;
	bool own; /* from layout_text_write(): sizes need not fit */
};

static bool read_number(struct reader *r, int *ret_number)
{
	char *end;
	if (*r->at < '0' || *r->at > '9')
		return false;
	unsigned long n = strtoul(r->at, &end, 10);
	if (n > SIDE_MAX)
		return false;
	*ret_number = (int)n;
	r->at = end;
	return true;
}

static bool read_char(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

/* Skip ",ID" of a leaf. A number followed by "x" is not an id, but the size of the next cell. */
static void skip_id(struct reader *r)
{
	size_t digits = *r->at == ',' ? strspn(r->at + 1, "0123456789") : 0;
	if (digits > 0 && r->at[1 + digits] != 'x')
		r->at += 1 + digits;
}

static bool fits_parent(const struct cell *c)
{
	int total = -1;
	const struct cell *child;
	DL_FOREACH (c->children, child) {
		bool row = c->type == CELL_ROW;
		if ((row ? child->rows : child->cols) != (row ? c->rows : c->cols))
			return false;
		total += (row ? child->cols : child->rows) + 1;
		if (total > SIDE_MAX)
			return false;
	}
	return total == (c->type == CELL_ROW ? c->cols : c->rows);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is limited
static struct cell *read_cell(struct reader *r, struct cell *parent, unsigned depth)
{
	struct cell *c = layout_cell(r->model, parent, CELL_PANE);
	if (depth > LAYOUT_TEXT_DEPTH_MAX || !read_number(r, &c->cols) || !read_char(r, 'x') ||
		!read_number(r, &c->rows) || !read_char(r, ',') || !read_number(r, &c->x) ||
		!read_char(r, ',') || !read_number(r, &c->y) || c->cols < 1 || c->rows < 1)
		return NULL;
	skip_id(r);
	if (*r->at != '{' && *r->at != '[') {
		r->cells++;
		return c;
	}
	char end = *r->at == '{' ? '}' : ']';
	c->type = *r->at == '{' ? CELL_ROW : CELL_COLUMN;
	do {
		r->at++;
		struct cell *child = read_cell(r, c, depth + 1);
		if (!child)
			return NULL;
		DL_APPEND(c->children, child);
	} while (*r->at == ',');
	return read_char(r, end) && (r->own || fits_parent(c)) ? c : NULL;
}

static struct pane *assign(struct cell *c, struct pane *p)
{
	struct cell *child;
	if (c->type == CELL_PANE) {
		layout_set_pane(c, p);
		return p->next;
	}
	DL_FOREACH (c->children, child)
		p = assign(child, p);
	return p;
}

/* The last leaf. */
static struct cell *find_last(struct cell *c)
{
	while (c->type != CELL_PANE)
		c = c->children->prev;
	return c;
}

static bool apply(struct model *m, struct window *w, const char *text, bool own)
{
	struct reader r = {.model = m, .own = own};
	int most = own ? SIDE_MAX : (int)MODEL_SIDE_MAX;
	unsigned panes = model_count_panes(w), given;
	char *end;
	given = (unsigned)strtoul(text, &end, 16);
	if (end != text + 4 || *end != ',' || sum(end + 1) != given)
		return false;
	r.at = end + 1;
	struct cell *root = read_cell(&r, NULL, 0);
	if (!root || *r.at || r.cells < panes || root->cols > most || root->rows > most)
		return false;
	struct window draft = {.layout = root};
	for (; r.cells > panes; r.cells--) {
		struct pane none = {.cell = find_last(draft.layout)};
		layout_close(&draft, &none);
	}
	w->layout = draft.layout;
	w->cols = (unsigned)w->layout->cols;
	w->rows = (unsigned)w->layout->rows;
	assign(w->layout, w->panes);
	layout_set_offsets(w);
	return true;
}

bool layout_text_apply(struct model *m, struct window *w, const char *text)
{
	return apply(m, w, text, false);
}

bool layout_text_restore(struct model *m, struct window *w, const char *text)
{
	return apply(m, w, text, true);
}
