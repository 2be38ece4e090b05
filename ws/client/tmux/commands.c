/* Running of commands: words are parsed by the table, and the first failure stops the rest. */
#include "ws/client/tmux/commands.h"

#include "ws/client/tmux/format.h"
#include "ws/client/tmux/script.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/state.h"
#include "ws/client/tmux/backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Find a command by name, alias or unique prefix. Returns NULL with an error. */
static const struct command_row *find_command(struct tmux *t, const char *name)
{
	const struct command_row *found = NULL;
	struct text could = {.arena = &t->arena};
	unsigned count = 0;
	for (const struct command_row *r = commands_table(); r->name; r++) {
		if (strcmp(r->name, name) == 0 || (*r->alias && strcmp(r->alias, name) == 0))
			return r;
		if (!*name || strncmp(r->name, name, strlen(name)) != 0)
			continue;
		text_print(&could, "%s%s", count > 0 ? ", " : "", r->name);
		found = r;
		count++;
	}
	if (count == 1)
		return found;
	if (count > 1)
		tmux_error(t, "ambiguous command: %s, could be: %s", name, text_get(&could));
	else
		tmux_error(t, "unknown command: %s", name);
	return NULL;
}

int commands_pause(struct tmux *t)
{
	int rc = state_close(t);
	backend_delete_lost(t);
	return tmux_flush(t) != 0 ? 1 : rc;
}

int commands_resume(struct tmux *t)
{
	int rc = state_open(t);
	return rc == 0 ? backend_refresh(t) : rc;
}

int commands_target(struct call *c, enum target_type type, struct place *ret_place)
{
	return target_find(c->t, args_value(&c->args, 't'), type, 0, ret_place);
}

void commands_print(struct call *c, const struct place *at, const char *usual)
{
	const char *template = args_value(&c->args, 'F');
	tmux_say_line(c->t, format_at(c->t, at, template ? template : usual));
}

bool commands_number(
	struct call *c, const char *name, const char *text, const int bounds[2], int *ret_number)
{
	char *end;
	long n = strtol(text, &end, 10);
	const char *wrong = end == text || *end ? "invalid"
		: n < bounds[0]                 ? "too small"
		: n > bounds[1]                 ? "too large"
						: NULL;
	if (wrong) {
		tmux_error(c->t, "%s %s", name, wrong);
		return false;
	}
	*ret_number = (int)n;
	return true;
}

bool commands_pane_size(struct call *c, int all, int *ret_size)
{
	bool splits = c->row->name[0] == 's';
	const char *size = args_value(&c->args, 'l'),
		   *text = size ? size : args_value(&c->args, 'p');
	size_t length = text ? strlen(text) : 0;
	bool percent = !size || (length > 0 && text[length - 1] == '%');
	const char *name = !splits ? "size"
		: !size            ? "create pane failed: -p"
		: percent          ? "percentage"
				   : "lines";
	int n;
	if (!text) {
		*ret_size = -1;
		return true;
	}
	if (size && percent)
		text = arena_copy_n(&c->t->arena, text, length - 1);
	if (!commands_number(c, name, text, (const int[]){0, percent && !splits ? 100 : INT_MAX}, &n))
		return false;
	long long cells = percent ? (long long)all * n / 100 : n;
	*ret_size = cells > (long long)MODEL_SIDE_MAX ? (int)MODEL_SIDE_MAX : (int)cells;
	return true;
}

int commands_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The replacement of a name in the option command-alias, or NULL. */
static const char *find_alias(struct tmux *t, const char *name)
{
	const char *key;
	json_t *value;
	size_t length = strlen(name);
	json_object_foreach (t->model.server_options, key, value) {
		const char *text = json_string_value(value);
		if (strncmp(key, "command-alias[", 14) == 0 && text &&
			strncmp(text, name, length) == 0 && text[length] == '=')
			return text + length + 1;
	}
	return NULL;
}

static bool needs_no_server(const struct command_row *r)
{
	return (r->flags & (ROW_STARTS_SERVER | ROW_NEEDS_NO_SERVER)) != 0;
}

/* Parse a command. Returns 0, or 1 with an error. */
static int parse_command(struct tmux *t, char **words, unsigned count, struct call *ret_call)
{
	struct call c = {.t = t};
	const char *alias = find_alias(t, words[0]);
	if (alias) {
		struct script_line *line;
		if (script_parse(t, alias, &line) || !line || line->next)
			return tmux_error(t,
				"%s: its command-alias must be exactly one valid command", words[0]);
		char **joined = arena_alloc(&t->arena, (line->count + count + 1) * sizeof *joined);
		memcpy(joined, line->words, line->count * sizeof *joined);
		memcpy(joined + line->count, words + 1, (count - 1) * sizeof *joined);
		words = joined;
		count += line->count - 1;
	}
	c.row = find_command(t, words[0]);
	if (!c.row)
		return 1;
	*ret_call = c;
	if (!c.row->run)
		return 0;
	const char *wrong = args_parse(&t->arena, c.row->letters, words + 1, count - 1, &c.args);
	if (wrong && strcmp(wrong, "usage") == 0)
		return tmux_error(t, "usage: %s %s", c.row->name, c.row->usage);
	if (wrong)
		return tmux_error(t, "command %s: %s", c.row->name, wrong);
	if (c.args.count < (unsigned)c.row->min)
		return tmux_error(t, "command %s: too few arguments (need at least %d)",
			c.row->name, c.row->min);
	if (c.row->max >= 0 && c.args.count > (unsigned)c.row->max)
		return tmux_error(t, "command %s: too many arguments (need at most %d)",
			c.row->name, c.row->max);
	*ret_call = c;
	return 0;
}

static int run_one(struct call *c)
{
	struct tmux *t = c->t;
	assert(c->row); /* set by parse_command() */
	if (!c->row->run)
		return tmux_error(t,
			"%s: not available here: panes are sessions of Ringside, shown in its web page",
			c->row->name);
	if (t->model.started == 0 && !needs_no_server(c->row))
		return tmux_error(t, "no server running on %s", t->path);
	unsigned flags = c->row->flags;
	int rc = 0;
	if ((flags & (ROW_SESSION | ROW_WINDOW | ROW_PANE)) != 0)
		rc = commands_target(c,
			(flags & ROW_PANE) != 0             ? TARGET_PANE
				: (flags & ROW_WINDOW) != 0 ? TARGET_WINDOW
							    : TARGET_SESSION,
			&c->at);
	return rc != 0 ? rc : c->row->run(c);
}

/* Whether a word ends a command. Removes the semicolon, or the backslash before it. */
static bool ends_command(struct tmux *t, char **word)
{
	size_t length = strlen(*word);
	if (length == 0 || (*word)[length - 1] != ';')
		return false;
	bool escaped = length > 1 && (*word)[length - 2] == '\\';
	char *copy = arena_copy_n(&t->arena, *word, length - (escaped ? 2 : 1));
	*word = escaped ? arena_print(&t->arena, "%s;", copy) : copy;
	return !escaped;
}

int commands_run(struct tmux *t, char **words, unsigned count)
{
	int rc = 0;
	unsigned begin = 0, calls = 0;
	char **own = arena_alloc(&t->arena, (count + 1) * sizeof *own);
	struct call *list = arena_alloc(&t->arena, (count + 1) * sizeof *list);
	for (unsigned i = 0, n = 0; i < count && rc == 0; i++) {
		char *word = words[i];
		bool end = ends_command(t, &word);
		if (*word || !end)
			own[begin + n++] = word;
		if ((end || i + 1 == count) && n > 0) {
			rc = parse_command(t, own + begin, n, &list[calls++]);
			n = 0;
			begin = i + 1;
		}
	}
	/* Run nothing unless all commands are valid. */
	for (unsigned i = 0; i < calls && rc == 0; i++)
		rc = run_one(&list[i]);
	return rc;
}

int commands_run_text(struct tmux *t, const char *text)
{
	struct script_line *line;
	int rc = 0;
	if (t->depth >= COMMANDS_DEPTH_MAX)
		return tmux_error(
			t, "commands are nested too deeply: at most %u levels", COMMANDS_DEPTH_MAX);
	const char *wrong = script_parse(t, text, &line);
	if (wrong)
		return tmux_error(t, "%s", wrong);
	t->depth++;
	for (; line && rc == 0; line = line->next) {
		struct call c = {.t = t};
		rc = parse_command(t, line->words, line->count, &c);
		if (rc == 0)
			rc = run_one(&c);
	}
	t->depth--;
	return rc;
}
