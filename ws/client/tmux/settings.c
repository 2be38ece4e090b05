/* An option is searched in the pane, its window, the global window options, the session, the global ones. */
#include "ws/client/tmux/settings.h"

#include "ws/client/tmux/quote.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLES_MAX 240u /* the server accepts 256, with those of the pane */
#define VARIABLE_BYTES_MAX 16384u

extern char **environ;

static bool has_name(const struct setting *s, const char *name, size_t length)
{
	size_t own = s->array ? strcspn(s->name, "[") : strlen(s->name);
	return own == length && strncmp(s->name, name, length) == 0;
}

const struct setting *settings_find(const char *name, bool *ret_ambiguous)
{
	const struct setting *found = NULL;
	size_t length = strcspn(name, "[");
	*ret_ambiguous = false;
	for (const struct setting *s = settings_table(); s->name; s++)
		if (has_name(s, name, length))
			return s;
	for (const struct setting *s = settings_table(); s->name && length > 0; s++) {
		if (strncmp(s->name, name, length) != 0)
			continue;
		bool same = found && found->array &&
			strncmp(found->name, s->name, strcspn(s->name, "[")) == 0;
		*ret_ambiguous = *ret_ambiguous || (found && !same);
		found = found ? found : s;
	}
	return *ret_ambiguous ? NULL : found;
}

json_t *settings_global(struct tmux *t, enum setting_scope scope)
{
	return scope == SETTING_SERVER     ? t->model.server_options
		: scope == SETTING_SESSION ? t->model.session_options
					   : t->model.window_options;
}

/* Whether a variable describes this terminal or this call: panes do not get it. */
static bool is_private(const char *variable)
{
	static const char *const list[] = {"TERM=", "TERMCAP=", "COLORTERM=", "PWD=", "OLDPWD=",
		"SHLVL=", "_=", "TMUX=", "TMUX_PANE=", "LINES=", "COLUMNS=", "RINGSIDE_"};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strncmp(variable, list[i], strlen(list[i])) == 0)
			return true;
	return strlen(variable) > VARIABLE_BYTES_MAX;
}

static void import_environment(struct tmux *t)
{
	for (char **v = environ; v && *v; v++) {
		const char *equals = strchr(*v, '=');
		if (!equals || equals == *v || is_private(*v) ||
			strcmp(quote_utf8(&t->arena, *v), *v) != 0)
			continue;
		char *name = arena_copy_n(&t->arena, *v, (size_t)(equals - *v));
		json_object_set_new(t->model.environment, name, json_string(equals + 1));
	}
}

void settings_set_defaults(struct tmux *t)
{
	const char *shell = getenv("SHELL");
	for (const struct setting *s = settings_table(); s->name; s++)
		json_object_set_new(settings_global(t, s->scope), s->name, json_string(s->usual));
	if (shell && *shell == '/' && access(shell, X_OK) == 0)
		json_object_set_new(t->model.session_options, "default-shell", json_string(shell));
	import_environment(t);
}

static const char *find_first(json_t *const tables[], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = json_string_value(json_object_get(tables[i], name));
		if (value)
			return value;
	}
	return NULL;
}

const char *settings_find_value(struct tmux *t, const struct place *at, const char *name)
{
	json_t *const tables[] = {at->pane ? at->pane->options : NULL,
		at->window ? at->window->options : NULL, t->model.window_options,
		at->session ? at->session->options : NULL, t->model.session_options,
		t->model.server_options};
	return find_first(tables, sizeof tables / sizeof *tables, name);
}

const char *settings_get(struct tmux *t, const struct session *s, const char *name)
{
	const char *value = settings_find_value(
		t, &(struct place){.session = (struct session *)s}, name);
	return value ? value : "";
}

const char *settings_of_window(struct tmux *t, const struct window *w, const char *name)
{
	const char *value = settings_find_value(
		t, &(struct place){.window = (struct window *)w}, name);
	return value ? value : "";
}

const char *settings_of_pane(struct tmux *t, const struct pane *p, const char *name)
{
	const struct place at = {.pane = (struct pane *)p, .window = p ? p->window : NULL};
	const char *value = settings_find_value(t, &at, name);
	return value ? value : "";
}

bool settings_parse_size(const char *text, int *ret_cols, int *ret_rows)
{
	char *x, *end = NULL;
	long cols = strtol(text, &x, 10), rows = *x == 'x' ? strtol(x + 1, &end, 10) : 0;
	long most = (long)MODEL_SIDE_MAX;
	if (!end || *end || cols < 1 || rows < 1 || cols > most || rows > most)
		return false;
	*ret_cols = (int)cols;
	*ret_rows = (int)rows;
	return true;
}

/* Add variables; null removes one. */
static void add_variables(json_t *env, const json_t *from)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)from, name, value) {
		bool hidden = json_is_object(value);
		if (json_is_null(value))
			json_object_del(env, name);
		else if (!hidden &&
			(json_object_size(env) < VARIABLES_MAX || json_object_get(env, name)))
			json_object_set(env, name, value);
	}
}

json_t *settings_environment(struct tmux *t, const struct session *s)
{
	json_t *env = json_object();
	add_variables(env, t->model.environment);
	if (s)
		add_variables(env, s->environment);
	return env;
}
