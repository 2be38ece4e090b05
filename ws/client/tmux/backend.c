/*
 * The sessions of Ringside behind panes. At the start of a call, panes with ended sessions are dropped, with
 * windows and sessions that become empty, unless remain-on-exit keeps them.
 */
#include "ws/client/tmux/backend.h"

#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/state.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#define NAME_MAX_BYTES 100 /* of a session's name; the server accepts 128 characters */
#define ATTEMPTS_MAX 100   /* to find an unused id */
#define CONFLICT 409       /* HTTP status: the id is in use */

int backend_request(
	struct tmux *t, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	int rc = call_try(t->cli, method, path, body, ret_answer);
	if (rc < 0)
		return tmux_error(t, "lost server: %s", strerror(-rc));
	if (ret_answer->status >= 200 && ret_answer->status < 300)
		return 0;
	const char *why = answer_text(ret_answer->json, "message");
	const json_t *first = json_array_get(
		json_object_get(json_object_get(ret_answer->json, "context"), "validationErrors"),
		0);
	rc = tmux_error(t, "%s%s%s", *why ? why : "the server refused the request",
		first ? ": " : "", first ? answer_text(first, "message") : "");
	answer_finish(ret_answer);
	return rc;
}

static json_t *find_info(const struct model *m, const char *id)
{
	size_t i;
	json_t *s;
	json_array_foreach (m->list, i, s)
		if (strcmp(answer_text(s, "id"), id) == 0)
			return s;
	return NULL;
}

static void record_exit(struct pane *p, const json_t *ended)
{
	const json_t *code = json_object_get(ended, "code");
	const char *name = json_string_value(json_object_get(ended, "signal"));
	p->dead = true;
	p->died_at = time(NULL);
	p->signalled = name != NULL;
	p->status = json_is_integer(code) ? (int)json_integer_value(code) : -1;
	for (int n = 1; name && n < NSIG; n++) {
		const char *abbreviation = sigabbrev_np(n);
		if (abbreviation && strcmp(abbreviation, name) == 0)
			p->status = n;
	}
}

/* Whether remain-on-exit keeps a pane. ended: how it has exited, or NULL. */
static bool is_kept(struct tmux *t, struct pane *p, const json_t *ended)
{
	if (!ended)
		return false;
	const char *how = settings_of_pane(t, p, "remain-on-exit");
	if (!p->dead)
		record_exit(p, ended);
	return strcmp(how, "on") == 0 || (strcmp(how, "failed") == 0 && p->status != 0);
}

static void update_pane(struct tmux *t, struct pane *p)
{
	json_t *info = find_info(&t->model, p->session);
	const json_t *ended = json_object_get(info, "exit");
	bool over = !info || json_is_object(ended) ||
		strcmp(answer_text(info, "state"), "deleting") == 0;
	p->info = info;
	if (over && !is_kept(t, p, json_is_object(ended) ? ended : NULL))
		backend_remove_pane(t, p);
}

static void update_panes(struct tmux *t)
{
	struct window *w, *next_window;
	struct pane *p, *next;
	DL_FOREACH_SAFE (t->model.windows, w, next_window)
		DL_FOREACH_SAFE (w->panes, p, next)
			update_pane(t, p);
}

static void delete_session(struct tmux *t, const char *id)
{
	struct answer a;
	if (call_try(t->cli, "POST", strdup("/api/session/delete"),
		    json_pack("{s:s}", "sessionId", id), &a) == 0)
		answer_finish(&a);
}

static bool is_of_pane(const struct model *m, const char *id)
{
	const struct window *w;
	const struct pane *p;
	DL_FOREACH (m->windows, w)
		DL_FOREACH (w->panes, p)
			if (strcmp(p->session, id) == 0)
				return true;
	return false;
}

/* Delete sessions that belong to no pane: a call was killed after it had created them. */
static void delete_orphans(struct tmux *t)
{
	size_t i;
	json_t *id;
	json_array_foreach (t->model.begun, i, id)
		if (find_info(&t->model, json_string_value(id)) &&
			!is_of_pane(&t->model, json_string_value(id)))
			delete_session(t, json_string_value(id));
	json_array_clear(t->model.begun);
}

void backend_delete_lost(struct tmux *t)
{
	size_t i;
	json_t *id;
	json_array_foreach (t->lost, i, id)
		delete_session(t, json_string_value(id));
	json_decref(t->lost);
	t->lost = NULL;
}

int backend_refresh(struct tmux *t)
{
	struct answer a;
	if (!t->cli->client || backend_request(t, "GET", strdup("/api/session/list"), NULL, &a) != 0)
		return 1;
	json_decref(t->model.list);
	t->model.list = json_incref(json_object_get(a.json, "sessions"));
	answer_finish(&a);
	delete_orphans(t);
	update_panes(t);
	return 0;
}

static void drop_window(struct tmux *t, struct window *w)
{
	struct session *s, *next;
	DL_FOREACH_SAFE (t->model.sessions, s, next) {
		struct link *l;
		while ((l = model_link_of(s, w)))
			model_remove_link(&t->model, l);
		if (!s->links)
			model_remove_session(&t->model, s);
	}
	model_remove_window(&t->model, w);
}

void backend_remove_pane(struct tmux *t, struct pane *p)
{
	struct window *w = p->window;
	backend_kill_pipe(p);
	w->zoomed = false;
	layout_close(w, p);
	model_remove_pane(p);
	if (!w->panes)
		drop_window(t, w);
	else if (t->cli->client)
		backend_resize_panes(t, w);
}

void backend_remove_link(struct tmux *t, struct link *l)
{
	struct session *s = l->session;
	struct window *w = l->window;
	model_remove_link(&t->model, l);
	if (!s->links)
		model_remove_session(&t->model, s);
	if (!model_last_used_link(&t->model, w))
		drop_window(t, w);
}

void backend_remove_session(struct tmux *t, struct session *s)
{
	while (s->links && s->links->next)
		backend_remove_link(t, s->links);
	if (s->links)
		backend_remove_link(t, s->links);
	else
		model_remove_session(&t->model, s);
}

int backend_kill_pane(struct tmux *t, struct pane *p)
{
	struct answer a;
	if (!p->info)
		return 0;
	/* It is no error if the session is gone already. */
	int rc = call_try(t->cli, "POST", strdup("/api/session/delete"),
		json_pack("{s:s}", "sessionId", p->session), &a);
	if (rc < 0)
		return tmux_error(t, "lost server: %s", strerror(-rc));
	const char *why = answer_text(a.json, "message");
	bool good = a.status == 200 || a.status == 404 || a.status == 410 ||
		strcmp(answer_text(json_object_get(a.json, "context"), "originalError"),
			"Session not found") == 0;
	rc = good ? 0 : tmux_error(t, "%%%u: %s", p->id, why);
	answer_finish(&a);
	p->info = NULL;
	return rc;
}

int backend_kill_window(struct tmux *t, struct window *w)
{
	struct pane *p;
	int rc = 0;
	DL_FOREACH (w->panes, p) {
		backend_kill_pipe(p);
		rc |= backend_kill_pane(t, p);
	}
	drop_window(t, w);
	return rc;
}

int backend_unlink(struct tmux *t, struct link *l)
{
	if (model_count_links_to(&t->model, l->window) == 1)
		return backend_kill_window(t, l->window);
	backend_remove_link(t, l);
	return 0;
}

int backend_kill_session(struct tmux *t, struct session *s)
{
	int rc = 0;
	while (s->links)
		rc |= backend_unlink(t, s->links);
	return rc;
}

/* The name of a pane's session: the names of the tmux session and of the window. */
static char *describe(struct tmux *t, const struct pane *p, const struct session *s)
{
	char *name = arena_print(&t->arena, "%s %s", s->name, p->window->name);
	size_t length = strlen(name);
	if (length > NAME_MAX_BYTES) {
		length = NAME_MAX_BYTES;
		while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
			length--;
		name[length] = '\0';
	}
	for (char *c = name; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '_';
	return name;
}

/* The id of a pane's session: unique for this tmux server, pane and attempt. */
static char *choose_id(struct tmux *t, const struct pane *p, unsigned attempt)
{
	const char *slash = strrchr(t->path, '/');
	char *label = arena_copy_n(
		&t->arena, slash ? slash + 1 : t->path, strnlen(slash ? slash + 1 : t->path, 40));
	for (char *c = label; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
			*c = '_';
	uint32_t sum = 2166136261u;
	for (const char *c = t->path; *c; c++)
		sum = (sum ^ (unsigned char)*c) * 16777619u;
	bool plain = strcmp(label, "default") == 0 && attempt == 0;
	return plain ? arena_print(&t->arena, "tmux-%u", p->id)
		     : arena_print(&t->arena, "tmux-%s-%08x-%u", label, sum + attempt, p->id);
}

static json_t *choose_environment(
	struct tmux *t, const struct pane *p, const struct backend_start_pane *start)
{
	json_t *env = settings_environment(t, start->place);
	if (start->env)
		json_object_update(env, start->env);
	json_object_set_new(env, "TMUX",
		json_string(arena_print(
			&t->arena, "%s,%d,%u", t->path, t->model.pid, start->place->id)));
	json_object_set_new(env, "TMUX_PANE", json_string(arena_print(&t->arena, "%%%u", p->id)));
	return env;
}

/* Fix the size of a pane's terminal, whatever the sizes of attached clients are. */
static int fix_size(struct tmux *t, struct pane *p, unsigned cols, unsigned rows)
{
	struct answer a;
	int rc = call_try(t->cli, "POST", call_path(p->session, "/size"),
		json_pack("{s:s, s:i, s:i}", "policy", "fixed", "cols", (int)cols, "rows", (int)rows),
		&a);
	if (rc < 0)
		return tmux_error(t, "lost server: %s", strerror(-rc));
	answer_finish(&a); /* a refusal means that the session has ended, which the next call sees */
	p->cols = cols;
	p->rows = rows;
	return 0;
}

static unsigned clamp_side(int side)
{
	return side < 1 ? 1 : side > (int)MODEL_SIDE_MAX ? MODEL_SIDE_MAX : (unsigned)side;
}

static json_t *describe_start(
	struct tmux *t, const struct pane *p, const struct backend_start_pane *start)
{
	json_t *body = json_pack("{s:s, s:s, s:i, s:i}", "name", describe(t, p, start->place),
		"cwd", start->cwd, "cols", (int)p->cols, "rows", (int)p->rows);
	json_object_set_new(body, "env", choose_environment(t, p, start));
	if (start->argv)
		json_object_set(body, "argv", start->argv);
	else
		json_object_set_new(
			body, "shell", json_string(settings_get(t, start->place, "default-shell")));
	return body;
}

int backend_start_pane(struct tmux *t, struct pane *p, const struct backend_start_pane *start)
{
	struct answer a;
	int rc = 0, status = CONFLICT;
	p->cols = clamp_side(p->cell ? p->cell->cols : 80);
	p->rows = clamp_side(p->cell ? p->cell->rows : 24);
	json_t *body = describe_start(t, p, start);
	for (unsigned i = 0; rc == 0 && status == CONFLICT && i < ATTEMPTS_MAX; i++) {
		p->session = choose_id(t, p, i);
		if (find_info(&t->model, p->session))
			continue;
		/* Written first: if this call is killed before it writes the pane, the next deletes the session. */
		size_t before = json_array_size(t->model.begun);
		json_array_append_new(t->model.begun, json_string(p->session));
		if (state_write(t) != 0) {
			json_decref(body);
			json_array_remove(t->model.begun, before);
			return 1;
		}
		json_object_set_new(body, "id", json_string(p->session));
		rc = call_try(t->cli, "POST", strdup("/api/session/create"), json_incref(body), &a);
		status = rc == 0 ? a.status : 0;
		if (status != 200)
			json_array_remove(t->model.begun, before);
		if (status == CONFLICT)
			answer_finish(&a);
	}
	json_decref(body);
	if (rc < 0)
		return tmux_error(t, "lost server: %s", strerror(-rc));
	if (status == CONFLICT)
		return tmux_error(t, "create pane failed: no unused session id");
	if (status != 200) {
		const json_t *first = json_array_get(
			json_object_get(json_object_get(a.json, "context"), "validationErrors"), 0);
		rc = tmux_error(t, "create pane failed: %s%s%s", answer_text(a.json, "message"),
			first ? ": " : "", first ? answer_text(first, "message") : "");
		answer_finish(&a);
		return rc;
	}
	p->cwd = arena_copy(&t->arena, start->cwd);
	p->dead = false;
	if (!t->model.list)
		t->model.list = json_array();
	p->info = json_object_get(a.json, "data");
	json_array_append(t->model.list, p->info);
	answer_finish(&a);
	return fix_size(t, p, p->cols, p->rows);
}

int backend_resize_panes(struct tmux *t, struct window *w)
{
	struct pane *p;
	int rc = 0;
	DL_FOREACH (w->panes, p) {
		unsigned cols = clamp_side(p->cell ? p->cell->cols : 80),
			 rows = clamp_side(p->cell ? p->cell->rows : 24);
		if (w->zoomed && p == w->active) {
			cols = w->cols;
			rows = w->rows;
		}
		if (p->info && !p->dead && (p->cols != cols || p->rows != rows))
			rc |= fix_size(t, p, cols, rows);
	}
	return rc;
}

const json_t *backend_screen(struct tmux *t, struct pane *p)
{
	struct answer a;
	if (p->screen || !p->info)
		return p->screen;
	if (call_try(t->cli, "GET", call_path(p->session, "/screen?format=json"), NULL, &a) < 0)
		return NULL;
	if (a.status == 200)
		p->screen = json_incref(a.json);
	answer_finish(&a);
	return p->screen;
}

int64_t backend_history(struct tmux *t, struct pane *p, int64_t *ret_first, int64_t *ret_limit)
{
	const json_t *scrollback = json_object_get(backend_screen(t, p), "scrollback");
	int64_t count = json_integer_value(json_object_get(scrollback, "count")),
		first = json_integer_value(json_object_get(scrollback, "first")),
		limit = json_integer_value(json_object_get(scrollback, "max")), end = first + count;
	if (p->history > 0 && p->history < limit)
		limit = p->history;
	/* Rewrapped lines may have become fewer. */
	int64_t cleared = p->cleared > (uint64_t)end ? end : (int64_t)p->cleared;
	first = first < cleared ? cleared : first;
	first = end - first > limit ? end - limit : first;
	*ret_first = first;
	*ret_limit = limit;
	return end - first;
}
