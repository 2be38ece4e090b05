/*
 * Layouts, after layout.c of tmux, so that sizes are the same. Between neighbours there is one column or row
 * for the border. A cell that cannot shrink further keeps its size, so a layout may be larger than its window.
 */
#include "ws/client/tmux/layout.h"

#include <limits.h>
#include <utlist.h>

struct cell *layout_cell(struct model *m, struct cell *parent, enum cell_type type)
{
	struct cell *c = arena_alloc(m->arena, sizeof *c);
	*c = (struct cell){.type = type, .parent = parent};
	return c;
}

void layout_set_pane(struct cell *c, struct pane *p)
{
	c->type = CELL_PANE;
	c->pane = p;
	if (p)
		p->cell = c;
}

static void set_size(struct cell *c, int cols, int rows)
{
	c->cols = cols;
	c->rows = rows;
}

static int *side(struct cell *c, enum cell_type type)
{
	return type == CELL_ROW ? &c->cols : &c->rows;
}

static struct cell *prev_of(const struct cell *c)
{
	return c->parent && c->parent->children != c ? c->prev : NULL;
}

static void fix_offsets(struct cell *c)
{
	struct cell *child;
	int x = c->x, y = c->y;
	DL_FOREACH (c->children, child) {
		child->x = x;
		child->y = y;
		fix_offsets(child);
		if (c->type == CELL_ROW)
			x += child->cols + 1;
		else
			y += child->rows + 1;
	}
}

void layout_set_offsets(struct window *w)
{
	if (!w->layout)
		return;
	w->layout->x = w->layout->y = 0;
	fix_offsets(w->layout);
}

/* By how much a cell can shrink. */
static int shrinkable(struct cell *c, enum cell_type type)
{
	struct cell *child;
	int room = 0, least = INT_MAX;
	if (c->type == CELL_PANE) {
		room = *side(c, type) - LAYOUT_SIDE_MIN;
		return room > 0 ? room : 0;
	}
	DL_FOREACH (c->children, child) {
		int one = shrinkable(child, type);
		room += one;
		least = one < least ? one : least;
	}
	return c->type == type ? room : least;
}

void layout_adjust(struct cell *c, enum cell_type type, int change)
{
	struct cell *child;
	*side(c, type) += change;
	if (c->type == CELL_PANE)
		return;
	if (c->type != type) {
		DL_FOREACH (c->children, child)
			layout_adjust(child, type, change);
		return;
	}
	for (bool moved = true; change != 0 && moved;) {
		moved = false;
		DL_FOREACH (c->children, child) {
			int step = change > 0 ? 1 : -1;
			if (change == 0)
				break;
			if (step < 0 && shrinkable(child, type) == 0)
				continue;
			layout_adjust(child, type, step);
			change -= step;
			moved = true;
		}
	}
}

void layout_init(struct model *m, struct window *w, struct pane *p)
{
	w->layout = layout_cell(m, NULL, CELL_PANE);
	set_size(w->layout, (int)w->cols, (int)w->rows);
	layout_set_pane(w->layout, p);
}

/* The new size of a child, in proportion to its old one. */
static int new_size(struct cell *c, enum cell_type type, const int sizes[4])
{
	enum { BEFORE, NOW, COUNT_LEFT, SIZE_LEFT };
	if (sizes[COUNT_LEFT] == 1)
		return sizes[SIZE_LEFT];
	int had = *side(c, type), room = shrinkable(c, type);
	int least = (LAYOUT_SIDE_MIN + 1) * (sizes[COUNT_LEFT] - 1);
	if (had - room > least)
		least = had - room;
	int size = had * sizes[NOW] / sizes[BEFORE];
	if (size > sizes[SIZE_LEFT] - least)
		size = sizes[SIZE_LEFT] - least;
	return size < LAYOUT_SIDE_MIN ? LAYOUT_SIDE_MIN : size;
}

/* Resize the children of a resized cell. */
static void resize_children(struct cell *c)
{
	struct cell *child;
	int count = 0, before = 0;
	if (c->type == CELL_PANE)
		return;
	DL_FOREACH (c->children, child) {
		count++;
		before += *side(child, c->type);
	}
	before += count - 1;
	int left = *side(c, c->type);
	DL_FOREACH (c->children, child) {
		int size = new_size(child, c->type, (int[]){before, *side(c, c->type), count, left});
		if (c->type == CELL_ROW)
			set_size(child, size, c->rows);
		else
			set_size(child, c->cols, size);
		left -= size + 1;
		count--;
		resize_children(child);
	}
}

/* Whether all descendants of a cell fit if one side of it gets this size. */
// NOLINTNEXTLINE(misc-no-recursion): the depth of layouts is limited
static bool fits(struct cell *c, enum cell_type type, int size)
{
	struct cell *child;
	int count = 0, left = size, before = *side(c, type);
	bool along = c->type == type;
	if (c->type == CELL_PANE)
		return size >= LAYOUT_SIDE_MIN;
	DL_FOREACH (c->children, child)
		count++;
	if (along && left < count * (LAYOUT_SIDE_MIN + 1) - 1)
		return false;
	DL_FOREACH (c->children, child) {
		int part = along ? new_size(child, type, (int[]){before, size, count, left}) : size;
		if (along && part + (count > 1 ? 1 : 0) > left)
			return false;
		left -= part + 1;
		count--;
		if (!fits(child, type, part))
			return false;
	}
	return true;
}

static void replace_cell(struct window *w, struct cell *old, struct cell *new_one)
{
	struct cell *parent = old->parent;
	new_one->parent = parent;
	if (!parent) {
		w->layout = new_one;
		return;
	}
	DL_REPLACE_ELEM(parent->children, old, new_one);
}

/* Add a cell beside another. If their parent has the other direction, a new parent is put between. */
static struct cell *add_beside(
	struct model *m, struct window *w, struct cell *c, const struct layout_split *split)
{
	struct cell *added;
	if (c->parent && c->parent->type == split->type) {
		added = layout_cell(m, c->parent, CELL_PANE);
		if (split->before)
			DL_PREPEND_ELEM(c->parent->children, c, added);
		else
			DL_APPEND_ELEM(c->parent->children, c, added);
		return added;
	}
	struct cell *parent = layout_cell(m, c->parent, split->type);
	*parent = (struct cell){
		.type = split->type, .cols = c->cols, .rows = c->rows, .x = c->x, .y = c->y};
	replace_cell(w, c, parent);
	c->parent = parent;
	c->prev = c->next = NULL;
	DL_APPEND(parent->children, c);
	added = layout_cell(m, parent, CELL_PANE);
	if (split->before)
		DL_PREPEND(parent->children, added);
	else
		DL_APPEND(parent->children, added);
	return added;
}

/* Add a child to the root, which has the direction of the split. rest: size left for its other children. */
static struct cell *add_to_root(
	struct model *m, struct cell *root, const struct layout_split *split, int rest)
{
	int all = *side(root, split->type);
	*side(root, split->type) = rest;
	resize_children(root);
	*side(root, split->type) = all;
	struct cell *added = layout_cell(m, root, CELL_PANE);
	set_size(added, root->cols, root->rows);
	*side(added, split->type) = all - 1 - rest;
	if (split->before)
		DL_PREPEND(root->children, added);
	else
		DL_APPEND(root->children, added);
	return added;
}

struct cell *layout_split(struct model *m, struct pane *p, const struct layout_split *split)
{
	struct window *w = p->window;
	struct cell *c = split->full ? w->layout : p->cell, *added;
	int all = *side(c, split->type), cols = c->cols, rows = c->rows;
	if (all < LAYOUT_SIDE_MIN * 2 + 1)
		return NULL;
	int second = split->size < 0 ? (all + 1) / 2 - 1
		: split->before      ? all - split->size - 1
				     : split->size;
	second = second > all - 2 ? all - 2 : second;
	second = second < LAYOUT_SIDE_MIN ? LAYOUT_SIDE_MIN : second;
	int first = all - 1 - second, rest = split->before ? second : first;
	if (split->full && !fits(c, split->type, rest))
		return NULL;
	if (split->full && !c->parent && c->type == split->type) {
		added = add_to_root(m, c, split, rest);
	} else {
		added = add_beside(m, w, c, split);
		set_size(c, cols, rows);
		set_size(added, cols, rows);
		*side(c, split->type) = rest;
		*side(added, split->type) = split->before ? first : second;
		if (split->full)
			resize_children(c);
	}
	layout_set_offsets(w);
	return added;
}

void layout_close(struct window *w, struct pane *p)
{
	struct cell *c = p->cell, *parent = c ? c->parent : NULL;
	p->cell = NULL;
	if (!parent) {
		w->layout = NULL;
		return;
	}
	struct cell *other = prev_of(c) ? prev_of(c) : c->next;
	if (other)
		layout_adjust(other, parent->type, *side(c, parent->type) + 1);
	DL_DELETE(parent->children, c); /* NOLINT(clang-analyzer-*): in utlist */
	struct cell *only = parent->children;
	if (only && !only->next) {
		DL_DELETE(parent->children, only); /* NOLINT(clang-analyzer-*): in utlist */
		replace_cell(w, parent, only);
	}
	layout_set_offsets(w);
}

static void resize_side(struct cell *c, enum cell_type type, int size)
{
	int had = *side(c, type), change = size - had, room = shrinkable(c, type);
	if (change < -room)
		change = -room;
	if (change != 0)
		layout_adjust(c, type, change);
}

void layout_resize(struct window *w, int cols, int rows)
{
	if (!w->layout)
		return;
	resize_side(w->layout, CELL_ROW, cols);
	resize_side(w->layout, CELL_COLUMN, rows);
	layout_set_offsets(w);
}

static int grow(struct cell *c, enum cell_type type, int needed)
{
	struct cell *from = c->next;
	while (from && shrinkable(from, type) == 0)
		from = from->next;
	for (struct cell *p = from ? NULL : prev_of(c); p && !from; p = prev_of(p))
		from = shrinkable(p, type) > 0 ? p : NULL;
	if (!from)
		return 0;
	int size = shrinkable(from, type);
	size = size > needed ? needed : size;
	layout_adjust(c, type, size);
	layout_adjust(from, type, -size);
	return size;
}

static int shrink(struct cell *c, enum cell_type type, int needed)
{
	struct cell *from = c, *to = c->next;
	while (from && shrinkable(from, type) == 0)
		from = prev_of(from);
	if (!from || !to)
		return 0;
	int size = shrinkable(from, type);
	size = size > needed ? needed : size;
	layout_adjust(to, type, size);
	layout_adjust(from, type, -size);
	return size;
}

/* The innermost cell around a pane that has neighbours in that direction, or NULL. */
static struct cell *find_movable(struct pane *p, enum cell_type type)
{
	struct cell *c = p->cell;
	while (c && c->parent && c->parent->type != type)
		c = c->parent;
	return c && c->parent ? c : NULL;
}

void layout_resize_pane(struct window *w, struct pane *p, enum cell_type type, int change)
{
	struct cell *c = find_movable(p, type);
	if (!c)
		return;
	if (!c->next)
		c = prev_of(c);
	while (c && change != 0) {
		int done = change > 0 ? grow(c, type, change) : shrink(c, type, -change);
		if (done == 0)
			break;
		change += change > 0 ? -done : done;
	}
	layout_set_offsets(w);
}

void layout_resize_pane_to(struct window *w, struct pane *p, enum cell_type type, int size)
{
	struct cell *c = find_movable(p, type);
	if (!c)
		return;
	int had = *side(c, type);
	layout_resize_pane(w, p, type, c->next ? size - had : had - size);
}

bool layout_spread(struct cell *parent)
{
	struct cell *c;
	int count = 0;
	bool changed = false;
	DL_FOREACH (parent->children, c)
		count++;
	int all = *side(parent, parent->type);
	if (count <= 1 || all < count - 1)
		return false;
	int each = (all - (count - 1)) / count;
	if (each == 0)
		return false;
	DL_FOREACH (parent->children, c) {
		int size = c->next ? each : all - (each + 1) * (count - 1);
		int change = size - *side(c, parent->type);
		if (change != 0)
			layout_adjust(c, parent->type, change);
		changed = changed || change != 0;
	}
	return changed;
}

void layout_spread_out(struct window *w, struct pane *p)
{
	struct cell *parent = p->cell ? p->cell->parent : NULL;
	while (parent && !layout_spread(parent))
		parent = parent->parent;
	layout_set_offsets(w);
}
