/* set-environment and show-environment: the environment of new panes. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES_MAX 1000u

/* The variables of -g, -t or the current session. Returns 0, or 1 with an error. */
static int find_table(struct call *c, json_t **ret_table)
{
	struct place at;
	*ret_table = c->t->model.environment;
	if (args_has(&c->args, 'g'))
		return 0;
	if (target_find(c->t, args_value(&c->args, 't'), TARGET_SESSION, TARGET_QUIET, &at) != 0)
		return args_value(&c->args, 't')
			? tmux_error(c->t, "no such session: %s", args_value(&c->args, 't'))
			: tmux_error(c->t, "no current session");
	*ret_table = at.session->environment;
	return 0;
}

int do_set_environment(struct call *c)
{
	struct place at = {.index = -1};
	json_t *table;
	const char *name = c->args.items[0], *value = c->args.count > 1 ? c->args.items[1] : NULL;
	if (!*name)
		return tmux_error(c->t, "empty variable name");
	if (strchr(name, '='))
		return tmux_error(c->t, "variable name contains =");
	if (find_table(c, &table) != 0)
		return 1;
	target_current(c->t, &at);
	if (args_has(&c->args, 'u') || args_has(&c->args, 'r')) {
		if (value)
			return tmux_error(c->t, "can't specify a value with -%c",
				args_has(&c->args, 'u') ? 'u' : 'r');
		if (args_has(&c->args, 'u'))
			json_object_del(table, name);
		else
			json_object_set_new(table, name, json_null());
		return 0;
	}
	if (!value)
		return tmux_error(c->t, "no value specified");
	if (json_object_size(table) >= VARIABLES_MAX && !json_object_get(table, name))
		return tmux_error(c->t, "too many variables: at most %u", VARIABLES_MAX);
	if (args_has(&c->args, 'F'))
		value = format_at(c->t, &at, value);
	/* Hidden variables are for formats alone; programs do not get them. */
	json_object_set_new(table, name,
		args_has(&c->args, 'h') ? json_pack("{s:s}", "hidden", value) : json_string(value));
	return 0;
}

static void show(struct call *c, const char *name, const json_t *value)
{
	bool hidden = json_is_object(value), shell = args_has(&c->args, 's');
	const char *text = hidden ? answer_text(value, "hidden") : json_string_value(value);
	if (hidden != args_has(&c->args, 'h'))
		return;
	if (json_is_null(value)) {
		tmux_say(c->t, shell ? "unset %s;\n" : "-%s\n", name);
	} else if (shell) {
		struct text quoted = {.arena = &c->t->arena};
		for (const char *p = text; *p; p++) {
			if (strchr("$`\"\\", *p))
				text_puts(&quoted, "\\");
			text_add(&quoted, p, 1);
		}
		tmux_say(c->t, "%s=\"%s\"; export %s;\n", name, text_get(&quoted), name);
	} else {
		tmux_say(c->t, "%s=%s\n", name, text);
	}
}

int do_show_environment(struct call *c)
{
	json_t *table, *value;
	const char *key;
	size_t n = 0;
	if (find_table(c, &table) != 0)
		return 1;
	if (c->args.count > 0) {
		value = json_object_get(table, c->args.items[0]);
		if (!value)
			return tmux_error(c->t, "unknown variable: %s", c->args.items[0]);
		show(c, c->args.items[0], value);
		return 0;
	}
	const char **names = arena_alloc(
		&c->t->arena, (json_object_size(table) + 1) * sizeof *names);
	json_object_foreach (table, key, value)
		names[n++] = key;
	qsort(names, n, sizeof *names, commands_compare_names);
	for (size_t i = 0; i < n; i++)
		show(c, names[i], json_object_get(table, names[i]));
	return 0;
}
