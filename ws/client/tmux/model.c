/* Lists of sessions, windows and panes in an arena. */
#include "ws/client/tmux/model.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

void model_init(struct model *m, struct arena *a)
{
	*m = (struct model){.arena = a,
		.marked = -1,
		.server_options = json_object(),
		.session_options = json_object(),
		.window_options = json_object(),
		.environment = json_object(),
		.buffers = json_array(),
		.channels = json_object(),
		.begun = json_array()};
}

static void finish_window(struct window *w)
{
	struct pane *p;
	DL_FOREACH (w->panes, p) {
		json_decref(p->options);
		json_decref(p->argv);
		json_decref(p->env);
		json_decref(p->screen);
	}
	json_decref(w->options);
}

void model_finish(struct model *m)
{
	struct session *s;
	struct window *w;
	DL_FOREACH (m->sessions, s) {
		json_decref(s->options);
		json_decref(s->environment);
	}
	DL_FOREACH (m->windows, w)
		finish_window(w);
	json_decref(m->server_options);
	json_decref(m->session_options);
	json_decref(m->window_options);
	json_decref(m->environment);
	json_decref(m->buffers);
	json_decref(m->channels);
	json_decref(m->begun);
	json_decref(m->list);
	*m = (struct model){.arena = m->arena};
}

struct session *model_add_session(struct model *m, unsigned id, const char *name)
{
	struct session *s = arena_alloc(m->arena, sizeof *s);
	*s = (struct session){.id = id,
		.name = arena_copy(m->arena, name),
		.cwd = arena_copy(m->arena, "/"),
		.options = json_object(),
		.environment = json_object()};
	DL_APPEND(m->sessions, s);
	return s;
}

struct window *model_add_window(struct model *m, unsigned id, const char *name)
{
	struct window *w = arena_alloc(m->arena, sizeof *w);
	*w = (struct window){
		.id = id, .name = arena_copy(m->arena, name), .preset = -1, .options = json_object()};
	DL_APPEND(m->windows, w);
	return w;
}

struct pane *model_add_pane(
	struct window *w, struct model *m, unsigned id, struct pane *after, bool before)
{
	struct pane *p = arena_alloc(m->arena, sizeof *p);
	*p = (struct pane){.id = id,
		.session = arena_copy(m->arena, ""),
		.command = arena_copy(m->arena, ""),
		.cwd = arena_copy(m->arena, "/"),
		.options = json_object(),
		.window = w};
	if (after && before)
		DL_PREPEND_ELEM(w->panes, after, p);
	else if (after)
		DL_APPEND_ELEM(w->panes, after, p);
	else
		DL_APPEND(w->panes, p);
	if (!w->active)
		w->active = p;
	return p;
}

static int by_index(const struct link *a, const struct link *b)
{
	return (a->index > b->index) - (a->index < b->index);
}

struct link *model_add_link(struct model *m, struct session *s, int index, struct window *w)
{
	struct link *l = arena_alloc(m->arena, sizeof *l);
	*l = (struct link){.index = index, .session = s, .window = w};
	DL_INSERT_INORDER(s->links, l, by_index);
	return l;
}

struct link *model_last_link(const struct session *s)
{
	struct link *l, *best = NULL;
	DL_FOREACH (s->links, l)
		if (l != s->current && l->turn > 0 && (!best || l->turn > best->turn))
			best = l;
	return best;
}

void model_remove_link(struct model *m, struct link *l)
{
	struct session *s = l->session;
	struct link *follower = model_last_link(s);
	if (!follower)
		follower = l->prev; /* before the first one: the last one, as in tmux */
	DL_DELETE(s->links, l);
	if (s->current != l)
		return;
	s->current = NULL;
	if (follower && follower != l)
		model_select(m, follower);
}

void model_remove_pane(struct pane *p)
{
	struct window *w = p->window;
	struct pane *follower = w->last && w->last != p ? w->last : NULL;
	if (!follower)
		follower = p != w->panes ? p->prev : p->next;
	DL_DELETE(w->panes, p);
	if (w->last == p)
		w->last = NULL;
	if (w->active == p) {
		w->active = follower;
		w->last = NULL;
	}
	json_decref(p->options);
	json_decref(p->argv);
	json_decref(p->env);
	json_decref(p->screen);
	p->options = p->argv = p->env = p->screen = NULL;
}

void model_remove_window(struct model *m, struct window *w)
{
	DL_DELETE(m->windows, w);
	finish_window(w);
}

void model_remove_session(struct model *m, struct session *s)
{
	DL_DELETE(m->sessions, s);
	json_decref(s->options);
	json_decref(s->environment);
}

struct session *model_session_by_id(const struct model *m, unsigned id)
{
	struct session *s;
	DL_SEARCH_SCALAR(m->sessions, s, id, id);
	return s;
}

struct session *model_session_by_name(const struct model *m, const char *name)
{
	struct session *s;
	DL_FOREACH (m->sessions, s)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

struct window *model_window_by_id(const struct model *m, unsigned id)
{
	struct window *w;
	DL_SEARCH_SCALAR(m->windows, w, id, id);
	return w;
}

struct pane *model_pane_by_id(const struct model *m, unsigned id)
{
	const struct window *w;
	struct pane *p = NULL;
	DL_FOREACH (m->windows, w) {
		DL_SEARCH_SCALAR(w->panes, p, id, id);
		if (p)
			return p;
	}
	return NULL;
}

struct link *model_link_at(const struct session *s, int index)
{
	struct link *l;
	DL_SEARCH_SCALAR(s->links, l, index, index);
	return l;
}

struct link *model_link_of(const struct session *s, const struct window *w)
{
	struct link *l;
	if (s->current && s->current->window == w)
		return s->current;
	DL_SEARCH_SCALAR(s->links, l, window, w);
	return l;
}

struct link *model_last_used_link(const struct model *m, const struct window *w)
{
	struct link *best = NULL;
	const struct session *s;
	DL_FOREACH (m->sessions, s) {
		struct link *l = model_link_of(s, w);
		if (l && (!best || s->activity > best->session->activity))
			best = l;
	}
	return best;
}

struct session *model_last_used_session(const struct model *m)
{
	struct session *s, *best = NULL;
	DL_FOREACH (m->sessions, s)
		if (!best || s->activity > best->activity)
			best = s;
	return best;
}

static int by_name(const void *a, const void *b)
{
	struct session *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

struct session **model_sessions_sorted(struct model *m, size_t *ret_count)
{
	struct session *s;
	size_t n = 0;
	DL_COUNT(m->sessions, s, n);
	struct session **sorted = arena_alloc(m->arena, (n + 1) * sizeof *sorted);
	n = 0;
	DL_FOREACH (m->sessions, s)
		sorted[n++] = s;
	qsort(sorted, n, sizeof *sorted, by_name);
	*ret_count = n;
	return sorted;
}

void model_select(struct model *m, struct link *l)
{
	if (l->session->current == l)
		return;
	l->turn = ++m->next_turn;
	l->session->current = l;
}

void model_activate(struct window *w, struct pane *p)
{
	if (w->active == p)
		return;
	w->last = w->active;
	w->active = p;
	p->turn = ++w->turns;
}

unsigned model_count_links(const struct session *s)
{
	unsigned n = 0;
	const struct link *l;
	DL_FOREACH (s->links, l)
		n++;
	return n;
}

unsigned model_count_links_to(const struct model *m, const struct window *w)
{
	unsigned n = 0;
	const struct session *s;
	const struct link *l;
	DL_FOREACH (m->sessions, s)
		DL_FOREACH (s->links, l)
			n += l->window == w;
	return n;
}

unsigned model_count_panes(const struct window *w)
{
	unsigned n = 0;
	const struct pane *p;
	DL_FOREACH (w->panes, p)
		n++;
	return n;
}

unsigned model_count_all_panes(const struct model *m)
{
	unsigned n = 0;
	const struct window *w;
	DL_FOREACH (m->windows, w)
		n += model_count_panes(w);
	return n;
}
