/* Panes: split-window, kill-pane, select-pane, last-pane, respawn-pane and -window. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/spawn.h"
#include "ws/client/tmux/backend.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static bool parse_split(struct call *c, const struct place *at, struct layout_split *split)
{
	const struct cell *base = args_has(&c->args, 'f') ? at->window->layout : at->pane->cell;
	*split = (struct layout_split){.type = args_has(&c->args, 'h') ? CELL_ROW : CELL_COLUMN,
		.before = args_has(&c->args, 'b'),
		.full = args_has(&c->args, 'f')};
	int all = split->type == CELL_ROW ? base->cols : base->rows;
	return commands_pane_size(c, all, &split->size);
}

/* Add a pane without a terminal beside another, in the list and the layout. */
static struct pane *add_pane(
	struct call *c, const struct place *at, const struct layout_split *split)
{
	struct window *w = at->window;
	struct pane *after = at->pane;
	bool before = split->before;
	w->zoomed = false;
	struct cell *cell = layout_split(&c->t->model, at->pane, split);
	if (!cell) {
		tmux_error(c->t, "no space for new pane");
		return NULL;
	}
	int id = spawn_next_pane(c);
	if (id < 0) {
		struct pane none = {.cell = cell};
		layout_close(w, &none);
		return NULL;
	}
	if (split->full)
		after = before ? w->panes : NULL;
	struct pane *p = model_add_pane(w, &c->t->model, (unsigned)id, after, before);
	layout_set_pane(cell, p);
	return p;
}

int do_split_window(struct call *c)
{
	struct layout_split split;
	if (args_has(&c->args, 'I'))
		return tmux_error(c->t, "split-window -I: not available here");
	if (!parse_split(c, &c->at, &split))
		return 1;
	struct pane *p = add_pane(c, &c->at, &split);
	if (!p)
		return 1;
	if (spawn_pane(c, p, c->at.session) != 0) {
		backend_remove_pane(c->t, p);
		return 1;
	}
	if (!args_has(&c->args, 'd'))
		model_activate(c->at.window, p);
	c->at.window->zoomed = args_has(&c->args, 'Z');
	int rc = backend_resize_panes(c->t, c->at.window);
	c->at.pane = p;
	if (args_has(&c->args, 'P'))
		commands_print(c, &c->at, "#{session_name}:#{window_index}.#{pane_index}");
	return rc;
}

int do_kill_pane(struct call *c)
{
	struct pane *p, *next;
	int rc = 0;
	if (!args_has(&c->args, 'a')) {
		rc = backend_kill_pane(c->t, c->at.pane);
		backend_remove_pane(c->t, c->at.pane);
		return rc;
	}
	DL_FOREACH_SAFE (c->at.window->panes, p, next) {
		if (p == c->at.pane)
			continue;
		rc |= backend_kill_pane(c->t, p);
		backend_remove_pane(c->t, p);
	}
	return rc;
}

/* -d and -e: disable or enable input by send-keys. Returns whether one of them was given. */
static bool switch_input(const struct call *c, struct pane *p)
{
	bool on = args_has(&c->args, 'e'), off = args_has(&c->args, 'd');
	if (on || off)
		p->input_off = !on;
	return on || off;
}

static void set_title(struct call *c, const struct place *at, const char *title)
{
	struct pane *p = at->pane;
	const char *own = json_string_value(json_object_get(backend_screen(c->t, p), "title"));
	p->title = format_at(c->t, at, title);
	p->title_replaced = arena_copy(&c->t->arena, own ? own : "");
}

/* -L, -R, -U, -D: change the place to the neighbour on that side. */
static int find_neighbour(struct call *c, struct place *at)
{
	static const char letters[] = "LRUD";
	static const char *const words[] = {"{left-of}", "{right-of}", "{up-of}", "{down-of}"};
	for (size_t i = 0; letters[i]; i++) {
		if (!args_has(&c->args, letters[i]))
			continue;
		struct pane *active = at->window->active;
		at->window->active = at->pane;
		struct place found;
		int rc = target_find(c->t,
			arena_print(&c->t->arena, "@%u.%s", at->window->id, words[i]), TARGET_PANE,
			TARGET_QUIET, &found);
		at->window->active = active;
		if (rc == 0)
			at->pane = found.pane;
	}
	return 0;
}

int do_last_pane(struct call *c)
{
	if (!c->at.window->last)
		return tmux_error(c->t, "no last pane");
	if (switch_input(c, c->at.window->last))
		return 0;
	c->at.window->zoomed = c->at.window->zoomed && args_has(&c->args, 'Z');
	model_activate(c->at.window, c->at.window->last);
	return backend_resize_panes(c->t, c->at.window);
}

int do_select_pane(struct call *c)
{
	const char *title = args_value(&c->args, 'T'), *style = args_value(&c->args, 'P');
	if (args_has(&c->args, 'l')) {
		if (!c->at.window->last)
			return tmux_error(c->t, "no last pane");
		c->at.pane = c->at.window->last;
	}
	if (args_has(&c->args, 'm') || args_has(&c->args, 'M')) {
		bool same = c->t->model.marked == (int)c->at.pane->id;
		c->t->model.marked = args_has(&c->args, 'M') || same ? -1 : (int)c->at.pane->id;
		return 0;
	}
	if (style) {
		json_object_set_new(c->at.pane->options, "window-style", json_string(style));
		json_object_set_new(c->at.pane->options, "window-active-style", json_string(style));
	}
	if (title && !args_has(&c->args, 'd') && !args_has(&c->args, 'e')) {
		set_title(c, &c->at, title);
		return 0;
	}
	if (style || args_has(&c->args, 'g'))
		return 0;
	find_neighbour(c, &c->at);
	if (switch_input(c, c->at.pane))
		return 0;
	c->at.window->zoomed = c->at.window->zoomed &&
		(args_has(&c->args, 'Z') || c->at.pane == c->at.window->active);
	model_activate(c->at.window, c->at.pane);
	return backend_resize_panes(c->t, c->at.window);
}

/* Restart the same program, unless another is given. */
static int respawn(struct call *c, struct pane *p, struct session *s)
{
	json_t *argv = json_incref(p->argv), *env = json_incref(p->env);
	char *command = p->command, *cwd = p->cwd;
	bool same = c->args.count == 0;
	int rc = backend_kill_pane(c->t, p);
	backend_kill_pipe(p);
	json_decref(p->screen);
	p->screen = NULL;
	if (rc == 0 && same) {
		bool given = args_value(&c->args, 'c') != NULL;
		spawn_variables(c, env);
		rc = backend_start_pane(c->t, p,
			&(struct backend_start_pane){.cwd = given
					? spawn_directory(c, &(struct place){.session = s, .pane = p})
					: cwd,
				.argv = argv,
				.env = env,
				.place = s});
		p->command = command;
	} else if (rc == 0) {
		rc = spawn_pane(c, p, s);
	}
	json_decref(argv);
	json_decref(env);
	return rc;
}

int do_respawn(struct call *c)
{
	struct pane *p, *next;
	int rc = 0;
	bool window = strcmp(c->row->name, "respawn-window") == 0;
	bool alive = !c->at.pane->dead;
	if (window) {
		alive = false;
		DL_FOREACH (c->at.window->panes, p)
			alive = alive || !p->dead;
	}
	if (alive && !args_has(&c->args, 'k'))
		return tmux_error(c->t, "%s failed: %s %s:%d%s still active",
			window ? "respawn window" : "respawn pane", window ? "window" : "pane",
			c->at.session->name, c->at.link->index,
			window ? ""
			       : arena_print(
					 &c->t->arena, ".%u", target_pane_index(c->t, c->at.pane)));
	if (window) {
		c->at.pane = c->at.window->panes;
		DL_FOREACH_SAFE (c->at.window->panes, p, next) {
			if (p == c->at.pane)
				continue;
			rc |= backend_kill_pane(c->t, p);
			backend_remove_pane(c->t, p);
		}
	}
	return rc != 0 ? rc : respawn(c, c->at.pane, c->at.session);
}
