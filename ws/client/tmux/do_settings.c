/* set-option, show-options and the like. Values are checked as in tmux. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/style.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

/* The table in which an option is set, and the global one that it inherits from. */
struct scope {
	json_t *own, *global;
	bool is_global;
	struct window *window; /* for -U, which unsets the option in its panes */
};

static bool is_window_command(const struct call *c)
{
	return strstr(c->row->name, "window-option") != NULL;
}

/*
 * Choose the tables by the option's scope; for s NULL (a user option, or all options) by the flags. Returns 0,
 * or 1 with an error.
 */
static int find_scope(struct call *c, const struct setting *s, struct scope *ret)
{
	struct tmux *t = c->t;
	struct place at;
	bool window = is_window_command(c) || args_has(&c->args, 'w'),
	     pane = args_has(&c->args, 'p');
	bool global = args_has(&c->args, 'g');
	enum setting_scope kind = s       ? s->scope
		: args_has(&c->args, 's') ? SETTING_SERVER
		: window || pane          ? SETTING_WINDOW
					  : SETTING_SESSION;
	*ret = (struct scope){
		.global = settings_global(t, kind), .is_global = global || kind == SETTING_SERVER};
	ret->own = ret->global;
	if (ret->is_global)
		return 0;
	const char *target = args_value(&c->args, 't');
	int rc = target_find(t, target,
		pane                             ? TARGET_PANE
			: kind == SETTING_WINDOW ? TARGET_WINDOW
						 : TARGET_SESSION,
		TARGET_QUIET, &at);
	if (rc != 0 && target)
		rc = target_find(t, target, TARGET_PANE, TARGET_QUIET, &at);
	if (rc != 0)
		return target ? tmux_error(t, "no such %s: %s",
					kind == SETTING_SESSION ? "session"
						: pane          ? "pane"
								: "window",
					target)
			      : tmux_error(t, "no current session");
	if (pane && (!s || s->panes))
		ret->own = at.pane->options;
	else if (kind == SETTING_WINDOW)
		ret->own = at.window->options;
	else
		ret->own = at.session->options;
	ret->window = at.window;
	return 0;
}

/* Parse a flag; without a value, toggle it. Returns NULL if it is invalid. */
static const char *read_flag(const char *value, const char *now)
{
	if (!value || !*value)
		return strcmp(now, "on") == 0 ? "off" : "on";
	if (strcmp(value, "1") == 0 || strcasecmp(value, "on") == 0 || strcasecmp(value, "yes") == 0)
		return "on";
	if (strcmp(value, "0") == 0 || strcasecmp(value, "off") == 0 || strcasecmp(value, "no") == 0)
		return "off";
	return NULL;
}

static const char *read_number(struct call *c, const struct setting *s, const char *value)
{
	char *end, *next;
	long long n = strtoll(value, &end, 10), least = strtoll(s->choices, &next, 10),
		  most = strtoll(next, NULL, 10);
	const char *wrong = end == value || *end ? "invalid"
		: n < least                      ? "too small"
		: n > most                       ? "too large"
						 : NULL;
	if (wrong) {
		tmux_error(c->t, "value is %s: %s", wrong, value);
		return NULL;
	}
	return arena_print(&c->t->arena, "%lld", n);
}

static const char *read_choice(
	struct call *c, const struct setting *s, const char *value, const char *now)
{
	size_t length = value ? strlen(value) : 0;
	const char *first = s->choices, *second = strchr(first, ' ');
	if (!value) {
		/* Toggle between the first two choices. */
		size_t n = (size_t)(second - first);
		bool is_first = strncmp(now, first, n) == 0 && !now[n];
		return is_first ? arena_copy_n(&c->t->arena, second + 1, strcspn(second + 1, " "))
				: arena_copy_n(&c->t->arena, first, n);
	}
	for (const char *p = s->choices; p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
		if (strcspn(p, " ") == length && strncmp(p, value, length) == 0)
			return value;
	tmux_error(c->t, "unknown value: %s", value);
	return NULL;
}

/* Check a value. Returns it as it is stored, or NULL with an error. */
static const char *read_value(
	struct call *c, const struct setting *s, const char *value, const char *now)
{
	int cols, rows;
	const char *flag;
	if (s && s->type == SETTING_FLAG) {
		flag = read_flag(value, now);
		if (!flag)
			tmux_error(c->t, "bad value: %s", value);
		return flag;
	}
	if (s && s->type == SETTING_CHOICE)
		return read_choice(c, s, value, now);
	if (!value) {
		tmux_error(c->t, "empty value");
		return NULL;
	}
	if (s && s->type == SETTING_NUMBER)
		return read_number(c, s, value);
	if (s && strcmp(s->name, "default-shell") == 0 &&
		(*value != '/' || access(value, X_OK) != 0)) {
		tmux_error(c->t, "not a suitable shell: %s", value);
		return NULL;
	}
	if (s && strcmp(s->name, "default-size") == 0 && !settings_parse_size(value, &cols, &rows)) {
		tmux_error(c->t, "value is invalid: %s", value);
		return NULL;
	}
	return value;
}

/* Whether a key is "name" or "name[N]". */
static bool is_value_of(const char *key, const char *name, size_t length)
{
	return strncmp(key, name, length) == 0 && (!key[length] || key[length] == '[');
}

static void remove_values(json_t *table, const char *name, size_t length)
{
	const char *key;
	json_t *value;
	void *next;
	json_object_foreach_safe (table, next, key, value)
		if (is_value_of(key, name, length))
			json_object_del(table, key);
}

/* Set or append values, which are separated by commas or blanks. */
static void set_array(
	struct call *c, json_t *table, const char *name, const char *value, bool appends)
{
	size_t length = strcspn(name, "[");
	unsigned index = 0;
	if (!appends)
		remove_values(table, name, length);
	while (*value) {
		size_t n = strcspn(value, " ,");
		char *key;
		do
			key = arena_print(&c->t->arena, "%.*s[%u]", (int)length, name, index++);
		while (json_object_get(table, key));
		if (n > 0)
			json_object_set_new(
				table, key, json_string(arena_copy_n(&c->t->arena, value, n)));
		value += n + strspn(value + n, " ,");
	}
}

static void unset(struct call *c, const struct scope *in, const struct setting *s, const char *name)
{
	struct pane *p;
	remove_values(in->own, name, strlen(name));
	if (in->is_global && s)
		for (const struct setting *u = s;
			u->name && is_value_of(u->name, s->name, strcspn(s->name, "[")); u++)
			json_object_set_new(in->own, u->name, json_string(u->usual));
	if (args_has(&c->args, 'U') && in->window)
		DL_FOREACH (in->window->panes, p)
			remove_values(p->options, name, strlen(name));
}

static int set(struct call *c, const struct scope *in, const struct setting *s, const char *name,
	const char *value)
{
	const char *own = json_string_value(json_object_get(in->own, name));
	const char *now = own ? own : json_string_value(json_object_get(in->global, name));
	bool appends = args_has(&c->args, 'a');
	if (args_has(&c->args, 'o') && own && (!in->is_global || !s))
		return args_has(&c->args, 'q') ? 0 : tmux_error(c->t, "already set: %s", name);
	if (s && s->array && !strchr(name, '[')) {
		if (!value)
			return tmux_error(c->t, "empty value");
		set_array(c, in->own, name, value, appends);
		return 0;
	}
	value = read_value(c, s, value, now ? now : "");
	if (!value)
		return 1;
	if (appends && now && (!s || s->type == SETTING_TEXT))
		value = arena_print(&c->t->arena, "%s%s", now, value);
	else if (appends && now && s && s->type == SETTING_STYLE && *now)
		value = arena_print(&c->t->arena, "%s,%s", now, value);
	if (s && s->type == SETTING_STYLE && !style_is_valid(value))
		return tmux_error(c->t, "invalid style: %s", value);
	json_object_set_new(in->own, name, json_string(value));
	return 0;
}

/* Find an option. Returns 0, or 1 with an error; with -q sets *ret_none instead of an error. */
static int find_option(struct call *c, const char *given, const struct setting **ret,
	char **ret_name, bool *ret_none)
{
	bool ambiguous;
	size_t length = strcspn(given, "[");
	*ret = NULL;
	*ret_name = arena_copy(&c->t->arena, given);
	*ret_none = false;
	if (*given == '@')
		return 0;
	*ret = settings_find(given, &ambiguous);
	if (*ret) {
		*ret_name = arena_print(&c->t->arena, "%.*s%s", (int)strcspn((*ret)->name, "["),
			(*ret)->name, given + length);
		if (!given[length] || (*ret)->array)
			return 0;
	}
	*ret_none = args_has(&c->args, 'q');
	if (*ret_none)
		return 1;
	if (*ret)
		return tmux_error(c->t, "not an array: %s", given);
	return tmux_error(c->t, "%s option: %s", ambiguous ? "ambiguous" : "invalid", given);
}

int do_set_option(struct call *c)
{
	struct scope in;
	const struct setting *s;
	char *name;
	bool none;
	struct place at = {.index = -1};
	target_current(c->t, &at);
	if (args_value(&c->args, 't'))
		target_find(c->t, args_value(&c->args, 't'), TARGET_PANE, TARGET_QUIET, &at);
	const char *value = c->args.count > 1 ? c->args.items[1] : NULL;
	if (value && args_has(&c->args, 'F'))
		value = format_at(c->t, &at, value);
	int rc = find_option(c, format_at(c->t, &at, c->args.items[0]), &s, &name, &none);
	if (rc != 0)
		return none ? 0 : rc;
	rc = find_scope(c, s, &in);
	if (rc != 0)
		return args_has(&c->args, 'q') ? 0 : rc;
	if (args_has(&c->args, 'u') || args_has(&c->args, 'U')) {
		unset(c, &in, s, name);
		return 0;
	}
	return set(c, &in, s, name, value);
}

static void show(struct call *c, const char *key, const char *value, const char *inherited)
{
	bool ambiguous;
	const struct setting *s = *key == '@' ? NULL : settings_find(key, &ambiguous);
	bool text = !s || s->type == SETTING_TEXT || s->type == SETTING_STYLE;
	if (args_has(&c->args, 'v'))
		tmux_say_line(c->t, value);
	else
		tmux_say(c->t, "%s%s %s\n", key, inherited,
			text ? quote_word(&c->t->arena, value) : value);
}

/* Show a table: user options, options in order, and further array values; with -A also inherited values. */
static void show_all(struct call *c, const struct scope *in, enum setting_scope kind)
{
	const char *key;
	json_t *value;
	bool inherits = args_has(&c->args, 'A') && in->own != in->global;
	json_object_foreach (in->own, key, value)
		if (*key == '@')
			show(c, key, json_string_value(value), "");
	for (const struct setting *s = settings_table(); s->name; s++) {
		if (s->scope != kind)
			continue;
		const char *own = json_string_value(json_object_get(in->own, s->name));
		const char *other = inherits
			? json_string_value(json_object_get(in->global, s->name))
			: NULL;
		bool bare = s->array && !strchr(s->name, '[');
		if (own && bare && !*own)
			tmux_say(c->t, "%s%s", s->name, args_has(&c->args, 'v') ? "" : "\n");
		else if (own)
			show(c, s->name, own, "");
		else if (other && !bare)
			show(c, s->name, other, "*");
	}
	/* Array values that are not among the defaults. */
	json_object_foreach (in->own, key, value) {
		bool ambiguous, usual = false;
		const struct setting *s = strchr(key, '[') && *key != '@'
			? settings_find(key, &ambiguous)
			: NULL;
		for (const struct setting *u = settings_table(); s && u->name; u++)
			usual = usual || strcmp(u->name, key) == 0;
		if (s && !usual)
			show(c, key, json_string_value(value), "");
	}
}

static int show_one(
	struct call *c, const struct scope *in, const struct setting *s, const char *name)
{
	const char *key;
	json_t *value;
	bool any = false, inherits = args_has(&c->args, 'A') && in->own != in->global;
	json_object_foreach (in->own, key, value) {
		bool bare = s && s->array && !strchr(key, '[');
		if (!(s && s->array && !strchr(name, '[') ? is_value_of(key, name, strlen(name))
							  : strcmp(key, name) == 0))
			continue;
		any = true;
		if (bare && !args_has(&c->args, 'v'))
			tmux_say_line(c->t, key);
		else if (!bare)
			show(c, key, json_string_value(value), "");
	}
	const char *inherited = json_string_value(json_object_get(in->global, name));
	if (!any && inherits && inherited)
		show(c, name, inherited, "*");
	else if (!any && !s && !args_has(&c->args, 'q'))
		return tmux_error(c->t, "invalid option: %s", name);
	return 0;
}

int do_show_options(struct call *c)
{
	struct scope in;
	const struct setting *s = NULL;
	char *name;
	bool none = false;
	if (args_has(&c->args, 'H'))
		return tmux_error(c->t, "show-options -H: hooks are not available here");
	if (c->args.count > 0) {
		int rc = find_option(c, c->args.items[0], &s, &name, &none);
		if (rc != 0)
			return none ? 0 : rc;
	}
	int rc = find_scope(c, s, &in);
	if (rc != 0)
		return args_has(&c->args, 'q') ? 0 : rc;
	if (c->args.count > 0)
		return show_one(c, &in, s, name);
	bool window = is_window_command(c) || args_has(&c->args, 'w') || args_has(&c->args, 'p');
	show_all(c, &in,
		args_has(&c->args, 's') ? SETTING_SERVER
			: window        ? SETTING_WINDOW
					: SETTING_SESSION);
	return 0;
}
