/* new-session, has-session, kill-session, attach-session and the like. */
#include "ws/client/attach/attach.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/script.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/spawn.h"
#include "ws/client/tmux/state.h"
#include "ws/client/tmux/wake.h"
#include "ws/client/tmux/backend.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

/* Arguments of new-session. */
struct new_session {
	char *name;
	int cols, rows;
	bool detached;
};

/* -f: run the commands of a file. Errors are dropped: tmux shows them to clients that attach. */
static void run_file(struct tmux *t)
{
	char source[] = "source-file", quiet[] = "-q",
	     *words[] = {source, quiet, arena_copy(&t->arena, t->file)};
	size_t errors = t->errors.length, out = t->out.length;
	commands_run(t, words, sizeof words / sizeof *words);
	t->errors.length = errors;
	t->out.length = out;
}

static void start_server(struct tmux *t)
{
	if (t->model.started != 0)
		return;
	settings_set_defaults(t);
	t->model.started = time(NULL);
	t->model.pid = getpid();
	if (t->file && script_cannot_block(t->file))
		run_file(t);
}

int do_start_server(struct call *c)
{
	start_server(c->t);
	return 0;
}

static int64_t now_us(void)
{
	struct timeval now;
	gettimeofday(&now, NULL);
	return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

/* Parse -x or -y; "-" is the size of our terminal. */
static bool parse_side(struct call *c, char letter, int terminal, int *side)
{
	const char *given = args_value(&c->args, letter);
	if (!given)
		return true;
	if (strcmp(given, "-") == 0) {
		*side = terminal > 0 ? terminal : *side;
		return true;
	}
	return commands_number(c, letter == 'x' ? "width" : "height", given,
		(const int[]){1, (int)MODEL_SIDE_MAX}, side);
}

static bool choose_size(struct call *c, struct new_session *n)
{
	struct winsize size = {0};
	if (!settings_parse_size(settings_get(c->t, NULL, "default-size"), &n->cols, &n->rows)) {
		n->cols = 80;
		n->rows = 24;
	}
	if (isatty(STDIN_FILENO))
		ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	if (!n->detached && size.ws_col > 0) {
		n->cols = size.ws_col;
		n->rows = size.ws_row;
	}
	return parse_side(c, 'x', size.ws_col, &n->cols) &&
		parse_side(c, 'y', size.ws_row, &n->rows);
}

/* Attach to the active pane of a session, without the lock. */
static int attach(struct tmux *t, const struct session *s, bool read_only)
{
	struct attach_options options = {.read_only = read_only, .detach_key = 0};
	const char *inside = getenv("TMUX");
	if (inside && *inside)
		return tmux_error(t, "sessions should be nested with care, unset $TMUX to force");
	if (!isatty(STDIN_FILENO))
		return tmux_error(t, "open terminal failed: not a terminal");
	char *id = arena_copy(&t->arena, s->current->window->active->session);
	int rc = commands_pause(t);
	if (rc == 0)
		t->status = attach_session(t->cli, id, &options) == 0 ? 0 : 1;
	return rc != 0 ? rc : commands_resume(t);
}

/* Copy the variables of the option update-environment from our own environment. */
static void update_environment(struct tmux *t, struct session *s)
{
	const char *key;
	json_t *value;
	json_object_foreach (t->model.session_options, key, value) {
		const char *name = json_string_value(value), *own = name ? getenv(name) : NULL;
		if (strncmp(key, "update-environment[", 19) != 0 || !name)
			continue;
		json_object_set_new(s->environment, name,
			own && strcmp(quote_utf8(&t->arena, own), own) == 0 ? json_string(own)
									    : json_null());
	}
}

static char *choose_name(struct tmux *t)
{
	for (unsigned i = t->model.next_session;; i++) {
		char *name = arena_print(&t->arena, "%u", i);
		if (!model_session_by_name(&t->model, name))
			return name;
	}
}

static int create(struct call *c, const struct new_session *n)
{
	struct tmux *t = c->t;
	struct model *m = &t->model;
	int id = spawn_next_pane(c), base;
	if (id < 0)
		return 1;
	struct session *s = model_add_session(m, m->next_session++, n->name);
	if (args_value(&c->args, 'x') || args_value(&c->args, 'y'))
		json_object_set_new(
			s->options, "default-size", json_sprintf("%dx%d", n->cols, n->rows));
	s->cwd = spawn_directory(c, &(struct place){.session = s});
	s->created = s->activity = now_us();
	if (!args_has(&c->args, 'E'))
		update_environment(t, s);
	spawn_variables(c, s->environment);
	const char *name = args_value(&c->args, 'n');
	struct window *w = model_add_window(m, m->next_window++, "");
	w->named = name != NULL;
	w->name = name
		? quote_visible(&t->arena, format_at(t, &(struct place){.session = s}, name), false)
		: spawn_window_name(c, s);
	w->cols = (unsigned)n->cols;
	w->rows = (unsigned)n->rows;
	w->activity = time(NULL);
	struct pane *p = model_add_pane(w, m, (unsigned)id, NULL, false);
	layout_init(m, w, p);
	base = atoi(settings_get(t, s, "base-index")); // NOLINT(cert-err34-c): already checked
	model_select(m, model_add_link(m, s, base, w));
	if (spawn_pane(c, p, s) != 0) {
		backend_remove_session(t, s);
		return 1;
	}
	if (args_has(&c->args, 'P'))
		commands_print(c,
			&(struct place){.session = s, .link = s->current, .window = w, .pane = p},
			"#{session_name}:");
	return n->detached ? 0 : attach(t, s, false);
}

int do_new_session(struct call *c)
{
	struct tmux *t = c->t;
	struct new_session n = {.detached = args_has(&c->args, 'd')};
	const char *given = args_value(&c->args, 's'), *inside = getenv("TMUX");
	if (args_has(&c->args, 't'))
		return tmux_error(t, "new-session -t: not available here");
	start_server(t);
	if (given) {
		struct place here = {.index = -1};
		target_current(t, &here);
		n.name = quote_session_name(&t->arena, format_at(t, &here, given));
		if (!*n.name)
			return tmux_error(t, "invalid session: %s", given);
		struct session *old = model_session_by_name(&t->model, n.name);
		if (old && args_has(&c->args, 'A'))
			return n.detached && !isatty(STDIN_FILENO) ? 0 : attach(t, old, false);
		if (old)
			return tmux_error(t, "duplicate session: %s", n.name);
	} else {
		n.name = choose_name(t);
	}
	if (!n.detached && inside && *inside)
		return tmux_error(t, "sessions should be nested with care, unset $TMUX to force");
	if (!n.detached && !isatty(STDIN_FILENO))
		return tmux_error(t, "open terminal failed: not a terminal");
	return choose_size(c, &n) ? create(c, &n) : 1;
}

int do_kill_session(struct call *c)
{
	struct session *s, *next;
	int rc = 0;
	if (args_has(&c->args, 'C'))
		return 0;
	if (!args_has(&c->args, 'a'))
		return backend_kill_session(c->t, c->at.session);
	DL_FOREACH_SAFE (c->t->model.sessions, s, next)
		if (s != c->at.session)
			rc |= backend_kill_session(c->t, s);
	return rc;
}

int do_kill_server(struct call *c)
{
	int rc = 0;
	wake_all(c->t);
	while (c->t->model.sessions)
		rc |= backend_kill_session(c->t, c->t->model.sessions);
	return rc;
}

int do_rename_session(struct call *c)
{
	char *name = quote_session_name(&c->t->arena, format_at(c->t, &c->at, c->args.items[0]));
	if (!*name)
		return tmux_error(c->t, "invalid session: %s", c->args.items[0]);
	const struct session *other = model_session_by_name(&c->t->model, name);
	if (other && other != c->at.session)
		return tmux_error(c->t, "duplicate session: %s", name);
	c->at.session->name = name;
	return 0;
}

int do_attach_session(struct call *c)
{
	struct place at;
	if (!c->t->model.sessions)
		return tmux_error(c->t, "no sessions");
	const char *target = args_value(&c->args, 't');
	bool pane = target && strpbrk(target, ":.%");
	int rc = target_find(c->t, target, pane ? TARGET_PANE : TARGET_SESSION, 0, &at);
	if (rc != 0)
		return rc;
	if (pane && at.link) {
		model_select(&c->t->model, at.link);
		model_activate(at.window, at.pane);
	}
	return attach(c->t, at.session, args_has(&c->args, 'r'));
}

/* There are no clients in tmux's sense. */
int do_no_client(struct call *c)
{
	const char *session = args_value(&c->args, 's');
	struct place at;
	if (session)
		return target_find(c->t, session, TARGET_SESSION, 0, &at);
	return tmux_error(c->t, "no current client");
}

int do_nothing(struct call *c)
{
	(void)c;
	return 0;
}
