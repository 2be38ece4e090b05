/*
 * The state as JSON. A missing field has the meaning of versions without it. A state that no call could have
 * written (a window without panes, duplicate ids) is refused as a whole, because more may be wrong.
 */
#include "ws/client/tmux/state_json.h"

#include "ws/client/connect/call.h"
#include "ws/client/tmux/layout_set.h"
#include "ws/client/tmux/layout_text.h"

#include <string.h>
#include <utlist.h>

/* Of a window, whose layout may be larger than what shows it. */
#define SIDE_MAX ((unsigned)MODEL_SIDE_MAX * 10)

static json_int_t number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* An integer from 0 to INT_MAX - 1; otherwise 0. */
static unsigned count_of(const json_t *o, const char *key)
{
	json_int_t n = number_of(o, key);
	return n < 0 || n >= INT_MAX ? 0 : (unsigned)n;
}

static uint64_t count64_of(const json_t *o, const char *key)
{
	json_int_t n = number_of(o, key);
	return n < 0 ? 0 : (uint64_t)n;
}

/* An id, or -1. */
static int id_of(const json_t *o, const char *key)
{
	const json_t *n = json_object_get(o, key);
	json_int_t id = json_is_integer(n) ? json_integer_value(n) : -1;
	return id < 0 || id >= INT_MAX ? -1 : (int)id;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Whether a value is a text; for a variable also null (removed) or an object (hidden). */
static bool is_setting(const json_t *value, bool variable)
{
	return json_is_string(value) ||
		(variable &&
			(json_is_null(value) || json_is_string(json_object_get(value, "hidden"))));
}

/* Read options or variables. Invalid ones are ignored. */
static void read_settings(json_t *to, const json_t *o, const char *key, bool variables)
{
	const char *name;
	json_t *value;
	json_object_foreach (json_object_get(o, key), name, value)
		if (*name && is_setting(value, variables))
			json_object_set(to, name, value);
}

static bool is_texts(const json_t *array)
{
	size_t i;
	const json_t *item;
	json_array_foreach (array, i, item)
		if (!json_is_string(item))
			return false;
	return json_array_size(array) > 0;
}

static void read_buffers(struct model *m, const json_t *o)
{
	size_t i;
	json_t *b;
	json_array_foreach (json_object_get(o, "buffers"), i, b)
		if (*answer_text(b, "name") && json_is_string(json_object_get(b, "base64")))
			json_array_append(m->buffers, b);
}

static void read_channels(struct model *m, const json_t *o)
{
	const char *name;
	json_t *channel;
	json_object_foreach (json_object_get(o, "channels"), name, channel)
		if (json_is_array(json_object_get(channel, "waiters")) &&
			json_is_array(json_object_get(channel, "lockers")))
			json_object_set(m->channels, name, channel);
}

static void read_begun(struct model *m, const json_t *o)
{
	size_t i;
	json_t *id;
	json_array_foreach (json_object_get(o, "begun"), i, id)
		if (json_is_string(id) && i < MODEL_PANES_MAX)
			json_array_append(m->begun, id);
}

static void read_start(struct pane *p, const json_t *o)
{
	const char *name;
	json_t *value, *argv = json_object_get(o, "argv"), *env = json_object_get(o, "env");
	p->argv = is_texts(argv) ? json_incref(argv) : NULL;
	if (!json_is_object(env))
		return;
	p->env = json_object();
	json_object_foreach (env, name, value)
		if (json_is_string(value))
			json_object_set(p->env, name, value);
}

static const char *read_pane(struct model *m, struct window *w, const json_t *o)
{
	int id = id_of(o, "id");
	if (id < 0 || model_pane_by_id(m, (unsigned)id) || !*answer_text(o, "session"))
		return "a pane has no unique id, or no session";
	if (model_count_all_panes(m) >= MODEL_PANES_MAX)
		return "too many panes";
	struct pane *p = model_add_pane(w, m, (unsigned)id, NULL, false);
	p->session = arena_copy(m->arena, answer_text(o, "session"));
	p->command = arena_copy(m->arena, answer_text(o, "command"));
	p->cwd = arena_copy(m->arena, answer_text(o, "cwd"));
	if (json_object_get(o, "title")) {
		p->title = arena_copy(m->arena, answer_text(o, "title"));
		p->title_replaced = arena_copy(m->arena, answer_text(o, "titleThen"));
	}
	read_start(p, o);
	read_settings(p->options, o, "options", false);
	p->turn = count_of(o, "turn");
	w->turns = larger(w->turns, p->turn);
	p->cols = count_of(o, "cols");
	p->rows = count_of(o, "rows");
	p->dead = json_is_true(json_object_get(o, "dead"));
	p->signalled = json_is_true(json_object_get(o, "signalled"));
	p->input_off = json_is_true(json_object_get(o, "inputOff"));
	p->status = (int)number_of(o, "status");
	p->died_at = number_of(o, "diedAt");
	p->cleared = count64_of(o, "cleared");
	p->history = count_of(o, "history");
	p->pipe = (int)count_of(o, "pipe");
	p->pipe_start_time = (uint64_t)number_of(o, "pipeBegan");
	m->next_pane = larger(m->next_pane, p->id + 1);
	return NULL;
}

static unsigned side_of(const json_t *o, const char *key, unsigned usual)
{
	unsigned n = count_of(o, key);
	return n < 1 || n > SIDE_MAX ? usual : n;
}

static void read_layout(struct model *m, struct window *w, const json_t *o)
{
	if (!layout_text_restore(m, w, answer_text(o, "layout"))) {
		w->cols = 80;
		w->rows = 24;
		layout_set_apply(m, w, 0, &(struct layout_set_sizes){0});
		if (!w->layout)
			layout_init(m, w, w->panes);
	}
	w->cols = side_of(o, "cols", w->cols);
	w->rows = side_of(o, "rows", w->rows);
}

static const char *read_window(struct model *m, const json_t *o)
{
	size_t i;
	json_t *pane;
	const char *wrong = NULL;
	int id = id_of(o, "id"), preset = id_of(o, "preset");
	if (id < 0 || model_window_by_id(m, (unsigned)id))
		return "a window has no unique id";
	struct window *w = model_add_window(m, (unsigned)id, answer_text(o, "name"));
	w->named = json_is_true(json_object_get(o, "named"));
	w->zoomed = json_is_true(json_object_get(o, "zoomed"));
	w->activity = number_of(o, "activity");
	read_settings(w->options, o, "options", false);
	json_array_foreach (json_object_get(o, "panes"), i, pane)
		if (!wrong)
			wrong = read_pane(m, w, pane);
	if (wrong || !w->panes)
		return wrong ? wrong : "a window has no panes";
	read_layout(m, w, o);
	w->preset = preset < LAYOUT_SET_COUNT ? preset : -1;
	struct pane *p = model_pane_by_id(m, count_of(o, "active"));
	w->active = p && p->window == w ? p : w->panes;
	p = json_object_get(o, "last") ? model_pane_by_id(m, count_of(o, "last")) : NULL;
	w->last = p && p->window == w ? p : NULL;
	m->next_window = larger(m->next_window, w->id + 1);
	return NULL;
}

static const char *read_link(struct model *m, struct session *s, const json_t *o)
{
	int index = id_of(o, "index");
	struct window *w = model_window_by_id(m, count_of(o, "window"));
	if (!w || index < 0 || model_link_at(s, index))
		return "a session links a window that does not exist, or uses an index twice";
	struct link *l = model_add_link(m, s, index, w);
	l->turn = count_of(o, "turn");
	m->next_turn = larger(m->next_turn, l->turn);
	return NULL;
}

static const char *read_session(struct model *m, const json_t *o)
{
	size_t i;
	json_t *link;
	const char *wrong = NULL, *name = answer_text(o, "name");
	int id = id_of(o, "id");
	if (id < 0 || model_session_by_id(m, (unsigned)id) || !*name ||
		model_session_by_name(m, name))
		return "a session has no unique id or name";
	struct session *s = model_add_session(m, (unsigned)id, name);
	s->cwd = arena_copy(m->arena, answer_text(o, "cwd"));
	s->created = number_of(o, "created");
	s->activity = number_of(o, "activity");
	read_settings(s->options, o, "options", false);
	read_settings(s->environment, o, "environment", true);
	json_array_foreach (json_object_get(o, "links"), i, link)
		if (!wrong)
			wrong = read_link(m, s, link);
	if (wrong || !s->links)
		return wrong ? wrong : "a session has no windows";
	s->current = model_link_at(s, (int)count_of(o, "current"));
	if (!s->current)
		s->current = s->links;
	m->next_session = larger(m->next_session, s->id + 1);
	return NULL;
}

static void read_globals(struct model *m, const json_t *o)
{
	m->started = number_of(o, "started");
	m->pid = (int)count_of(o, "pid");
	m->marked = id_of(o, "marked");
	m->next_session = count_of(o, "nextSession");
	m->next_window = count_of(o, "nextWindow");
	m->next_pane = count_of(o, "nextPane");
	m->next_buffer = count_of(o, "nextBuffer");
	m->next_turn = count_of(o, "nextTurn");
	read_settings(m->server_options, o, "serverOptions", false);
	read_settings(m->session_options, o, "sessionOptions", false);
	read_settings(m->window_options, o, "windowOptions", false);
	read_settings(m->environment, o, "environment", true);
	read_buffers(m, o);
	read_channels(m, o);
	read_begun(m, o);
}

const char *state_json_read(struct model *m, const json_t *o)
{
	size_t i;
	json_t *item;
	struct window *w;
	const char *wrong = NULL;
	if (number_of(o, "started") <= 0)
		return "not a state of ringside tmux";
	read_globals(m, o);
	json_array_foreach (json_object_get(o, "windows"), i, item)
		if (!wrong)
			wrong = read_window(m, item);
	json_array_foreach (json_object_get(o, "sessions"), i, item)
		if (!wrong)
			wrong = read_session(m, item);
	DL_FOREACH (m->windows, w)
		if (!wrong && !model_last_used_link(m, w))
			wrong = "a window is in no session";
	bool any = m->sessions || json_array_size(m->begun) > 0;
	return wrong ? wrong : any ? NULL : "it has no sessions";
}

static json_t *write_pane(const struct pane *p)
{
	json_t *o = json_pack(
		"{s:i, s:i, s:s, s:s, s:s, s:O, s:i, s:i, s:b, s:b, s:i, s:I, s:i, s:I}", "id",
		(int)p->id, "turn", (int)p->turn, "session", p->session, "command", p->command,
		"cwd", p->cwd, "options", p->options, "cols", (int)p->cols, "rows", (int)p->rows,
		"dead", (int)p->dead, "signalled", (int)p->signalled, "status", p->status, "diedAt",
		(json_int_t)p->died_at, "pipe", p->pipe, "pipeBegan",
		(json_int_t)p->pipe_start_time);
	if (o && (p->cleared > 0 || p->history > 0))
		json_object_update_new(o,
			json_pack("{s:I, s:i}", "cleared", (json_int_t)p->cleared, "history",
				(int)p->history));
	if (o && p->input_off)
		json_object_set_new(o, "inputOff", json_true());
	if (o && p->title) {
		json_object_set_new(o, "title", json_string(p->title));
		json_object_set_new(
			o, "titleThen", json_string(p->title_replaced ? p->title_replaced : ""));
	}
	if (o && p->argv)
		json_object_set(o, "argv", p->argv);
	if (o && p->env)
		json_object_set(o, "env", p->env);
	return o;
}

static json_t *write_window(struct arena *a, const struct window *w)
{
	const struct pane *p;
	json_t *panes = json_array();
	DL_FOREACH (w->panes, p)
		json_array_append_new(panes, write_pane(p));
	json_t *o = json_pack("{s:i, s:s, s:b, s:b, s:i, s:I, s:i, s:i, s:s, s:i, s:O, s:o}", "id",
		(int)w->id, "name", w->name, "named", (int)w->named, "zoomed", (int)w->zoomed,
		"preset", w->preset, "activity", (json_int_t)w->activity, "cols", (int)w->cols,
		"rows", (int)w->rows, "layout", layout_text_write(a, w->layout), "active",
		w->active ? (int)w->active->id : -1, "options", w->options, "panes", panes);
	if (o && w->last)
		json_object_set_new(o, "last", json_integer((json_int_t)w->last->id));
	return o;
}

static json_t *write_session(const struct session *s)
{
	const struct link *l;
	json_t *links = json_array();
	DL_FOREACH (s->links, l)
		json_array_append_new(links,
			json_pack("{s:i, s:i, s:i}", "index", l->index, "window",
				(int)l->window->id, "turn", (int)l->turn));
	return json_pack("{s:i, s:s, s:s, s:I, s:I, s:i, s:O, s:O, s:o}", "id", (int)s->id, "name",
		s->name, "cwd", s->cwd, "created", (json_int_t)s->created, "activity",
		(json_int_t)s->activity, "current", s->current ? s->current->index : 0, "options",
		s->options, "environment", s->environment, "links", links);
}

json_t *state_json_write(const struct model *m)
{
	const struct session *s;
	const struct window *w;
	json_t *sessions = json_array(), *windows = json_array();
	DL_FOREACH (m->sessions, s)
		json_array_append_new(sessions, write_session(s));
	DL_FOREACH (m->windows, w)
		json_array_append_new(windows, write_window(m->arena, w));
	json_t *o = json_pack(
		"{s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:O, s:O, s:O, s:O, s:O, s:O, s:o, s:o}",
		"started", (json_int_t)m->started, "pid", m->pid, "marked", m->marked,
		"nextSession", (int)m->next_session, "nextWindow", (int)m->next_window, "nextPane",
		(int)m->next_pane, "nextBuffer", (int)m->next_buffer, "nextTurn", (int)m->next_turn,
		"serverOptions", m->server_options, "sessionOptions", m->session_options,
		"windowOptions", m->window_options, "environment", m->environment, "buffers",
		m->buffers, "channels", m->channels, "sessions", sessions, "windows", windows);
	if (o && json_array_size(m->begun) > 0)
		json_object_set(o, "begun", m->begun);
	return o;
}
