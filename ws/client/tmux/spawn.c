/* New panes: their program, directory and variables. */
#include "ws/client/tmux/spawn.h"

#include "ws/client/tmux/format.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/backend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
	struct stat st;
	return *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		access(path, X_OK) == 0;
}

char *spawn_directory(struct call *c, const struct place *at)
{
	struct arena *a = &c->t->arena;
	const char *given = args_value(&c->args, 'c'), *home = getenv("HOME");
	char here[PATH_MAX];
	char *path = given ? format_at(c->t, at, given) : arena_copy(a, "");
	if (!getcwd(here, sizeof here))
		here[0] = '\0';
	if (!*path)
		path = arena_copy(a, here);
	else if (*path != '/' && *here)
		path = arena_print(a, "%s/%s", here, path);
	path = quote_utf8(a, path);
	if (is_directory(path))
		return path;
	return arena_copy(a, home && is_directory(home) ? home : "/");
}

void spawn_variables(const struct call *c, json_t *into)
{
	for (unsigned i = 0; i < c->args.flag_count; i++)
		if (c->args.flags[i].letter == 'e' && c->args.flags[i].value)
			cli_add_variable(into, c->args.flags[i].value);
}

/* The command as one line, for pane_start_command. */
static char *describe(struct call *c)
{
	struct text line = {.arena = &c->t->arena};
	if (c->args.count == 1)
		return quote_word(&c->t->arena, c->args.items[0]);
	for (unsigned i = 0; i < c->args.count; i++)
		text_print(&line, "%s%s", i > 0 ? " " : "",
			quote_word(&c->t->arena, c->args.items[i]));
	return text_get(&line);
}

static const char *choose_command(struct call *c, const struct session *s)
{
	const char *usual = settings_get(c->t, s, "default-command");
	if (c->args.count == 1 && *c->args.items[0])
		return c->args.items[0];
	return c->args.count == 0 && *usual ? usual : NULL;
}

char *spawn_window_name(struct call *c, struct session *s)
{
	const char *command = choose_command(c, s);
	if (!command)
		command = c->args.count > 1 ? c->args.items[0]
					    : settings_get(c->t, s, "default-shell");
	return quote_visible(&c->t->arena, backend_program_name(c->t, command), false);
}

int spawn_next_pane(struct call *c)
{
	if (model_count_all_panes(&c->t->model) >= MODEL_PANES_MAX) {
		tmux_error(c->t, "create pane failed: too many panes: at most %u", MODEL_PANES_MAX);
		return -1;
	}
	return (int)c->t->model.next_pane++;
}

int spawn_pane(struct call *c, struct pane *p, struct session *s)
{
	struct place at = {.session = s, .window = p->window};
	const char *command = choose_command(c, s);
	json_t *argv = NULL, *env = json_object();
	bool ambiguous;
	if (command) {
		argv = json_pack("[s, s, s]", settings_get(c->t, s, "default-shell"), "-c", command);
	} else if (c->args.count > 1) {
		argv = json_array();
		for (unsigned i = 0; i < c->args.count; i++)
			json_array_append_new(argv, json_string(c->args.items[i]));
	}
	spawn_variables(c, env);
	const char *limit = settings_get(c->t, s, "history-limit");
	p->history = strcmp(limit, settings_find("history-limit", &ambiguous)->usual) == 0
		? 0
		: (unsigned)(strtoul(limit, NULL, 10) & INT_MAX);
	p->cleared = 0;
	json_decref(p->argv);
	json_decref(p->env);
	p->argv = argv;
	p->env = env;
	p->command = describe(c);
	return backend_start_pane(c->t, p,
		&(struct backend_start_pane){
			.cwd = spawn_directory(c, &at), .argv = argv, .env = env, .place = s});
}
