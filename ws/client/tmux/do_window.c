/* new-window, select-window, kill-window, rename-window, move-window and the like. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/spawn.h"
#include "ws/client/tmux/backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

/* The first free index, from the option base-index on. */
static int free_index(struct tmux *t, const struct session *s)
{
	int i = atoi(settings_get(t, s, "base-index")); // NOLINT(cert-err34-c): already checked
	while (model_link_at(s, i))
		i++;
	return i;
}

/* Free an index by incrementing the consecutive ones from there on. */
static void shift_indices(struct session *s, int index)
{
	int last = index;
	struct link *l;
	while (model_link_at(s, last))
		last++;
	for (; last > index; last--) {
		l = model_link_at(s, last - 1);
		if (l)
			l->index = last;
	}
}

/* The index of a new window: by -a, -b, the target, or the first free one. */
static int choose_index(struct call *c, const struct place *at)
{
	bool after = args_has(&c->args, 'a'), before = args_has(&c->args, 'b');
	if (after || before) {
		const struct link *l = at->link ? at->link : at->session->current;
		int index = l->index + (before ? 0 : 1);
		shift_indices(at->session, index);
		return index;
	}
	return at->index >= 0 ? at->index : free_index(c->t, at->session);
}

/* An index in use requires -k. Returns 0, or 1 with an error. */
static int check_index(struct call *c, struct session *s, int index)
{
	bool creates = c->row->name[0] == 'n';
	if (!model_link_at(s, index) || args_has(&c->args, 'k'))
		return 0;
	return creates ? tmux_error(c->t, "create window failed: index %d in use", index)
		       : tmux_error(c->t, "index in use: %d", index);
}

int do_new_window(struct call *c)
{
	struct tmux *t = c->t;
	struct model *m = &t->model;
	struct place at;
	int rc = target_find(t, args_value(&c->args, 't'), TARGET_WINDOW, TARGET_INDEX, &at);
	if (rc != 0)
		return rc;
	if (!args_value(&c->args, 't'))
		at.index = -1;
	else if (at.link && at.index < 0 && !strpbrk(args_value(&c->args, 't'), ":@"))
		at.index = -1;
	struct session *s = at.session;
	int index = choose_index(c, &at);
	const char *name = args_value(&c->args, 'n');
	if (name && args_has(&c->args, 'S')) {
		struct link *l;
		DL_FOREACH (s->links, l) {
			if (strcmp(l->window->name, name) == 0) {
				model_select(m, l);
				return 0;
			}
		}
	}
	if (check_index(c, s, index) != 0)
		return 1;
	int id = spawn_next_pane(c);
	if (id < 0)
		return 1;
	struct link *old = model_link_at(s, index);
	struct window *w = model_add_window(m, m->next_window++, ""), *size = s->current->window;
	w->named = name != NULL;
	w->name = name ? quote_visible(&t->arena, format_at(t, &at, name), false)
		       : spawn_window_name(c, s);
	w->cols = size->cols;
	w->rows = size->rows;
	w->activity = time(NULL);
	struct pane *p = model_add_pane(w, m, (unsigned)id, NULL, false);
	layout_init(m, w, p);
	if (old)
		old->index = -1; /* removed once the new window exists */
	struct link *l = model_add_link(m, s, index, w);
	if (spawn_pane(c, p, s) != 0) {
		if (old)
			old->index = index;
		backend_remove_pane(t, p);
		return 1;
	}
	if (!args_has(&c->args, 'd') || (old && old == s->current))
		model_select(m, l);
	if (old)
		rc = backend_unlink(t, old);
	if (args_has(&c->args, 'P'))
		commands_print(c, &(struct place){.session = s, .link = l, .window = w, .pane = p},
			"#{session_name}:#{window_index}.#{pane_index}");
	return rc;
}

/* kill-window -a: kill all other windows of a session, and as tmux this one, too, if it is there twice. */
static int kill_other_windows(struct call *c, const struct place *at)
{
	struct link *l = at->session->links;
	int rc = 0;
	if (!l->next)
		return 0;
	while (l) {
		if (l->window == at->window) {
			l = l->next;
			continue;
		}
		rc |= backend_kill_window(c->t, l->window); /* with all its links */
		l = at->session->links;
	}
	return at->session->links->next ? rc | backend_kill_window(c->t, at->window) : rc;
}

int do_kill_window(struct call *c)
{
	return args_has(&c->args, 'a') ? kill_other_windows(c, &c->at)
				       : backend_kill_window(c->t, c->at.window);
}

int do_unlink_window(struct call *c)
{
	if (!args_has(&c->args, 'k') && model_count_links_to(&c->t->model, c->at.window) == 1)
		return tmux_error(c->t, "window only linked to one session");
	return backend_unlink(c->t, c->at.link);
}

int do_select_window(struct call *c)
{
	bool own = strcmp(c->row->name, "select-window") == 0;
	char kind = own ? args_has(&c->args, 'n') ? 'n'
			: args_has(&c->args, 'p') ? 'p'
			: args_has(&c->args, 'l') ? 'l'
						  : 's'
			: c->row->name[0];
	struct link *l = c->at.link, *current = c->at.session->current;
	if (kind == 'n')
		l = current->next ? current->next : c->at.session->links;
	else if (kind == 'p')
		l = current->prev;
	else if (kind == 'l' || (kind == 's' && args_has(&c->args, 'T') && l == current))
		l = model_last_link(c->at.session);
	if (kind == 'l' && !l)
		return tmux_error(c->t, "no last window");
	if (kind != 's' && kind != 'l' && l == current)
		return tmux_error(c->t, kind == 'n' ? "no next window" : "no previous window");
	if (l)
		model_select(&c->t->model, l);
	return 0;
}

int do_rename_window(struct call *c)
{
	c->at.window->name = quote_visible(
		&c->t->arena, format_at(c->t, &c->at, c->args.items[0]), false);
	c->at.window->named = true;
	json_object_set_new(c->at.window->options, "automatic-rename", json_string("off"));
	return 0;
}

/* move-window -r: number the windows consecutively. */
static void renumber(struct tmux *t, struct session *s)
{
	struct link *l;
	int i = atoi(settings_get(t, s, "base-index")); // NOLINT(cert-err34-c): already checked
	DL_FOREACH (s->links, l)
		l->index = i++;
}

int do_move_window(struct call *c)
{
	struct tmux *t = c->t;
	struct place from, to;
	bool moves = c->row->name[0] == 'm';
	if (moves && args_has(&c->args, 'r')) {
		int rc = commands_target(c, TARGET_SESSION, &to);
		if (rc == 0)
			renumber(t, to.session);
		return rc;
	}
	if (target_find(t, args_value(&c->args, 's'), TARGET_WINDOW, 0, &from) != 0 ||
		target_find(t, args_value(&c->args, 't'), TARGET_WINDOW, TARGET_INDEX, &to) != 0)
		return 1;
	int index = choose_index(c, &to);
	struct link *old = model_link_at(to.session, index);
	if (old && old->window == from.window)
		return tmux_error(t, "same index: %d", index);
	if (check_index(c, to.session, index) != 0)
		return 1;
	if (old)
		old->index = -1;
	struct link *l = model_add_link(&t->model, to.session, index, from.window);
	if (!args_has(&c->args, 'd') || (old && old == to.session->current))
		model_select(&t->model, l);
	int rc = old ? backend_unlink(t, old) : 0;
	if (moves)
		backend_remove_link(t, from.link);
	return rc;
}

int do_swap_window(struct call *c)
{
	struct place from, to;
	if (target_find(c->t, args_value(&c->args, 's'), TARGET_WINDOW, 0, &from) != 0 ||
		target_find(c->t, args_value(&c->args, 't'), TARGET_WINDOW, 0, &to) != 0)
		return 1;
	struct window *w = from.link->window;
	if (w == to.link->window)
		return 0;
	from.link->window = to.link->window;
	to.link->window = w;
	if (args_has(&c->args, 'd')) {
		model_select(&c->t->model, to.link);
		if (from.session != to.session)
			model_select(&c->t->model, from.link);
	}
	return 0;
}

int do_resize_window(struct call *c)
{
	int step = 1;
	const int bounds[] = {1, (int)MODEL_SIDE_MAX};
	if (c->args.count > 0 && !commands_number(c, "adjustment", c->args.items[0], bounds, &step))
		return 1;
	int cols = (int)c->at.window->cols, rows = (int)c->at.window->rows;
	/* The size of the largest or smallest client: without clients, tmux uses default-size. */
	if (args_has(&c->args, 'a') || args_has(&c->args, 'A'))
		settings_parse_size(settings_get(c->t, c->at.session, "default-size"), &cols, &rows);
	if (args_value(&c->args, 'x') &&
		!commands_number(c, "width", args_value(&c->args, 'x'), bounds, &cols))
		return 1;
	if (args_value(&c->args, 'y') &&
		!commands_number(c, "height", args_value(&c->args, 'y'), bounds, &rows))
		return 1;
	cols += args_has(&c->args, 'R') ? step : args_has(&c->args, 'L') && cols > step ? -step : 0;
	rows += args_has(&c->args, 'D') ? step : args_has(&c->args, 'U') && rows > step ? -step : 0;
	cols = cols > (int)MODEL_SIDE_MAX ? (int)MODEL_SIDE_MAX : cols;
	rows = rows > (int)MODEL_SIDE_MAX ? (int)MODEL_SIDE_MAX : rows;
	c->at.window->zoomed = false;
	layout_resize(c->at.window, cols, rows);
	c->at.window->cols = (unsigned)cols;
	c->at.window->rows = (unsigned)rows;
	json_object_set_new(c->at.window->options, "window-size", json_string("manual"));
	return backend_resize_panes(c->t, c->at.window);
}
