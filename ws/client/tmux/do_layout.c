/* Positions of panes: select-layout, resize-pane, swap-pane, rotate-window, break-pane, join-pane. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout_set.h"
#include "ws/client/tmux/layout_text.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

/* Window option with the layout that select-layout -o restores. */
#define OLD_LAYOUT "ringside-layout"

static int apply_named(struct call *c, struct window *w, int which)
{
	struct tmux *t = c->t;
	const struct layout_set_sizes sizes = {
		.main_rows = settings_of_window(t, w, "main-pane-height"),
		.main_cols = settings_of_window(t, w, "main-pane-width"),
		.other_rows = settings_of_window(t, w, "other-pane-height"),
		.other_cols = settings_of_window(t, w, "other-pane-width")};
	layout_set_apply(&t->model, w, which, &sizes);
	return 0;
}

/* A layout has a size; with window-size manual, the window keeps its own. */
static int apply_text(struct call *c, struct window *w, const char *text)
{
	int cols = (int)w->cols, rows = (int)w->rows;
	if (!layout_text_apply(&c->t->model, w, text))
		return tmux_error(c->t, "invalid layout: %s", text);
	if (strcmp(settings_of_window(c->t, w, "window-size"), "manual") == 0) {
		layout_resize(w, cols, rows);
		w->cols = (unsigned)cols;
		w->rows = (unsigned)rows;
	}
	return 0;
}

static int next_named(const struct window *w, bool back)
{
	int n = w->preset < 0 ? (back ? LAYOUT_SET_COUNT - 1 : 0)
			      : w->preset + (back ? LAYOUT_SET_COUNT - 1 : 1);
	return n % LAYOUT_SET_COUNT;
}

int do_select_layout(struct call *c)
{
	struct tmux *t = c->t;
	bool own = c->row->name[0] == 's';
	bool next = own ? args_has(&c->args, 'n') : c->row->name[0] == 'n';
	bool back = own ? args_has(&c->args, 'p') : c->row->name[0] == 'p';
	int which = -1;
	struct window *w = c->at.window;
	const char *name = c->args.count > 0 ? c->args.items[0] : NULL;
	char *old = layout_text_write(&t->arena, w->layout);
	w->zoomed = false;
	if (args_has(&c->args, 'E')) {
		layout_spread_out(w, c->at.pane);
	} else if (next || back) {
		apply_named(c, w, next_named(w, back));
	} else {
		if (!name && args_has(&c->args, 'o'))
			name = json_string_value(json_object_get(w->options, OLD_LAYOUT));
		else if (!name)
			which = w->preset;
		else
			which = layout_set_find(name);
		if (which >= 0)
			apply_named(c, w, which);
		else if (name && apply_text(c, w, name) != 0)
			return 1;
	}
	json_object_set_new(w->options, OLD_LAYOUT, json_string(old));
	return backend_resize_panes(t, w);
}

static int zoom(struct call *c, const struct place *at)
{
	struct window *w = at->window;
	if (w->zoomed) {
		w->zoomed = false;
	} else if (w->panes->next) {
		model_activate(w, at->pane);
		w->zoomed = true;
	}
	return backend_resize_panes(c->t, w);
}

/* Resize by -x or -y: cells or a percentage. Returns false with an error. */
static bool resize_to(struct call *c, const struct place *at, char letter)
{
	const char *text = args_value(&c->args, letter);
	char *end;
	if (!text)
		return true;
	long n = strtol(text, &end, 10);
	int all = (int)(letter == 'x' ? at->window->cols : at->window->rows);
	bool percent = strcmp(end, "%") == 0;
	const char *wrong = end == text || (*end && !percent) ? "invalid"
		: n < (percent ? 0 : 1)                       ? "too small"
		: n > (percent ? 100 : INT_MAX)               ? "too large"
							      : NULL;
	if (wrong) {
		tmux_error(c->t, "%s %s", letter == 'x' ? "width" : "height", wrong);
		return false;
	}
	long size = percent ? all * n / 100 : n;
	layout_resize_pane_to(at->window, at->pane, letter == 'x' ? CELL_ROW : CELL_COLUMN,
		size > (long)MODEL_SIDE_MAX ? (int)MODEL_SIDE_MAX : (int)size);
	return true;
}

int do_resize_pane(struct call *c)
{
	int step = 1;
	if (args_has(&c->args, 'M') || args_has(&c->args, 'T'))
		return tmux_error(c->t, "resize-pane -%c: not available here",
			args_has(&c->args, 'M') ? 'M' : 'T');
	if (args_has(&c->args, 'Z'))
		return zoom(c, &c->at);
	c->at.window->zoomed = false;
	if (c->args.count > 0 &&
		!commands_number(c, "adjustment", c->args.items[0],
			(const int[]){1, (int)MODEL_SIDE_MAX}, &step))
		return 1;
	if (!resize_to(c, &c->at, 'x') || !resize_to(c, &c->at, 'y'))
		return 1;
	if (args_has(&c->args, 'L'))
		layout_resize_pane(c->at.window, c->at.pane, CELL_ROW, -step);
	else if (args_has(&c->args, 'R'))
		layout_resize_pane(c->at.window, c->at.pane, CELL_ROW, step);
	else if (args_has(&c->args, 'U'))
		layout_resize_pane(c->at.window, c->at.pane, CELL_COLUMN, -step);
	else if (args_has(&c->args, 'D'))
		layout_resize_pane(c->at.window, c->at.pane, CELL_COLUMN, step);
	return backend_resize_panes(c->t, c->at.window);
}

/* Swap two panes of one window, or of two. */
static void swap_panes(struct pane *a, struct pane *b)
{
	struct window *wa = a->window, *wb = b->window;
	struct cell *cell = a->cell;
	struct pane mark_a = {0}, mark_b = {0};
	bool active_a = wa->active == a, active_b = wb->active == b;
	DL_REPLACE_ELEM(wa->panes, a, &mark_a);
	DL_REPLACE_ELEM(wb->panes, b, &mark_b);
	DL_REPLACE_ELEM(wa->panes, &mark_a, b);
	DL_REPLACE_ELEM(wb->panes, &mark_b, a);
	layout_set_pane(cell, NULL);
	layout_set_pane(b->cell, a);
	layout_set_pane(cell, b);
	a->window = wb;
	b->window = wa;
	if (wa != wb) {
		wa->active = active_a ? b : wa->active;
		wb->active = active_b ? a : wb->active;
		wa->last = wa->last == a ? NULL : wa->last;
		wb->last = wb->last == b ? NULL : wb->last;
	}
}

int do_swap_pane(struct call *c)
{
	struct place from, to;
	if (target_find(c->t, args_value(&c->args, 't'), TARGET_PANE, 0, &to) != 0)
		return 1;
	from = to;
	if (args_has(&c->args, 'D'))
		from.pane = to.pane->next ? to.pane->next : to.window->panes;
	else if (args_has(&c->args, 'U'))
		from.pane = to.pane->prev;
	else if (args_value(&c->args, 's')) {
		if (target_find(c->t, args_value(&c->args, 's'), TARGET_PANE, 0, &from) != 0)
			return 1;
	} else if (c->t->model.marked >= 0) {
		from.pane = model_pane_by_id(&c->t->model, (unsigned)c->t->model.marked);
	} else {
		return 0;
	}
	if (!from.pane || from.pane == to.pane)
		return 0;
	struct window *a = from.pane->window, *b = to.pane->window;
	a->zoomed = b->zoomed = false;
	swap_panes(from.pane, to.pane);
	if (!args_has(&c->args, 'd') && a == b)
		model_activate(a, to.pane);
	return backend_resize_panes(c->t, a) | (a == b ? 0 : backend_resize_panes(c->t, b));
}

int do_rotate_window(struct call *c)
{
	struct pane *p;
	struct window *w = c->at.window;
	unsigned n = model_count_panes(w), k = 0;
	struct cell **cells = arena_alloc(&c->t->arena, n * sizeof *cells);
	DL_FOREACH (w->panes, p)
		cells[k++] = p->cell;
	struct pane *moved = args_has(&c->args, 'D') ? w->panes->prev : w->panes;
	DL_DELETE(w->panes, moved);
	if (args_has(&c->args, 'D'))
		DL_PREPEND(w->panes, moved);
	else
		DL_APPEND(w->panes, moved);
	k = 0;
	DL_FOREACH (w->panes, p)
		layout_set_pane(cells[k++], p);
	w->zoomed = w->zoomed && args_has(&c->args, 'Z');
	p = w->active;
	model_activate(w, args_has(&c->args, 'D') ? p->prev : p->next ? p->next : w->panes);
	return backend_resize_panes(c->t, w);
}

/* Remove a pane from its window, and keep the pane. A window without panes is removed. */
static void detach_pane(struct call *c, struct pane *p)
{
	json_t *options = json_incref(p->options), *argv = json_incref(p->argv),
	       *env = json_incref(p->env);
	int pipe = p->pipe;
	uint64_t began = p->pipe_start_time;
	p->pipe = 0; /* keeps backend_remove_pane() from killing it */
	backend_remove_pane(c->t, p);
	p->options = options;
	p->argv = argv;
	p->env = env;
	p->pipe = pipe;
	p->pipe_start_time = began;
	p->prev = p->next = NULL;
}

int do_break_pane(struct call *c)
{
	struct tmux *t = c->t;
	struct place from, to;
	const char *name = args_value(&c->args, 'n');
	if (target_find(t, args_value(&c->args, 's'), TARGET_PANE, 0, &from) != 0 ||
		target_find(t, args_value(&c->args, 't'), TARGET_WINDOW, TARGET_INDEX, &to) != 0)
		return 1;
	struct session *s = args_value(&c->args, 't') ? to.session : from.session;
	int index = args_value(&c->args, 't') && to.index >= 0
		? to.index
		: atoi(settings_get(t, s, "base-index")); // NOLINT(cert-err34-c)
	while (!args_value(&c->args, 't') && model_link_at(s, index))
		index++;
	if (args_has(&c->args, 'a') || args_has(&c->args, 'b'))
		return tmux_error(t, "break-pane -%c: not available here",
			args_has(&c->args, 'a') ? 'a' : 'b');
	if (!from.window->panes->next)
		return tmux_error(t, "can't break with only one pane");
	if (model_link_at(s, index))
		return tmux_error(t, "index in use: %d", index);
	unsigned cols = from.window->cols, rows = from.window->rows;
	detach_pane(c, from.pane);
	struct window *w = model_add_window(&t->model, t->model.next_window++, "");
	w->named = name != NULL;
	w->cols = cols;
	w->rows = rows;
	w->activity = time(NULL);
	DL_APPEND(w->panes, from.pane);
	from.pane->window = w;
	w->active = from.pane;
	w->name = name ? quote_visible(&t->arena, name, false) : backend_command(t, from.pane);
	layout_init(&t->model, w, from.pane);
	struct link *l = model_add_link(&t->model, s, index, w);
	if (!args_has(&c->args, 'd'))
		model_select(&t->model, l);
	if (args_has(&c->args, 'P'))
		commands_print(c,
			&(struct place){.session = s, .link = l, .window = w, .pane = from.pane},
			"#{session_name}:#{window_index}.#{pane_index}");
	return backend_resize_panes(t, w);
}

int do_join_pane(struct call *c)
{
	struct tmux *t = c->t;
	struct place from, to;
	struct layout_split split = {.type = args_has(&c->args, 'h') ? CELL_ROW : CELL_COLUMN,
		.before = args_has(&c->args, 'b'),
		.full = args_has(&c->args, 'f')};
	if (target_find(t, args_value(&c->args, 't'), TARGET_PANE, 0, &to) != 0 ||
		target_find(t,
			args_value(&c->args, 's')      ? args_value(&c->args, 's')
				: t->model.marked >= 0 ? "{marked}"
						       : NULL,
			TARGET_PANE, 0, &from) != 0)
		return 1;
	if (from.pane == to.pane)
		return tmux_error(t, "source and target panes must be different");
	int all = split.type == CELL_ROW ? to.pane->cell->cols : to.pane->cell->rows;
	if (!commands_pane_size(c, all, &split.size))
		return 1;
	to.window->zoomed = false;
	struct cell *cell = layout_split(&t->model, to.pane, &split);
	if (!cell)
		return tmux_error(t, "create pane failed: pane too small");
	detach_pane(c, from.pane);
	if (split.before)
		DL_PREPEND_ELEM(to.window->panes, to.pane, from.pane);
	else
		DL_APPEND_ELEM(to.window->panes, to.pane, from.pane);
	from.pane->window = to.window;
	layout_set_pane(cell, from.pane);
	if (!args_has(&c->args, 'd')) {
		model_activate(to.window, from.pane);
		if (to.link)
			model_select(&t->model, to.link);
	}
	return backend_resize_panes(t, to.window);
}
