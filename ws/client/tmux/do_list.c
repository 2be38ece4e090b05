/* list-sessions, list-windows, list-panes, list-commands, display-message. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define SESSION_LINE                                                                 \
	"#{session_name}: #{session_windows} windows (created #{t:session_created})" \
	"#{?session_grouped, (group ,}#{session_group}#{?session_grouped,),}#{?session_attached, (attached),}"
#define WINDOW_LINE                                                                   \
	"#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) " \
	"[#{window_width}x#{window_height}] "
#define PANE_LINE                                                                                            \
	"[#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] " \
	"#{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}"

/* Print a line if it matches the filter (-f). */
static void list_one(struct call *c, const struct place *at, const char *usual)
{
	const char *filter = args_value(&c->args, 'f');
	if (!filter || format_is_true(format_at(c->t, at, filter)))
		commands_print(c, at, usual);
}

int do_list_sessions(struct call *c)
{
	size_t count;
	struct session **s = model_sessions_sorted(&c->t->model, &count);
	for (size_t i = 0; i < count; i++) {
		struct link *l = s[i]->current;
		list_one(c,
			&(struct place){.session = s[i],
				.link = l,
				.window = l->window,
				.pane = l->window->active},
			SESSION_LINE);
	}
	return 0;
}

static void list_windows(struct call *c, const struct session *s, const char *usual)
{
	struct link *l;
	DL_FOREACH (s->links, l)
		list_one(c,
			&(struct place){.session = l->session,
				.link = l,
				.window = l->window,
				.pane = l->window->active},
			usual);
}

int do_list_windows(struct call *c)
{
	size_t count;
	struct place at;
	struct session **s;
	if (!args_has(&c->args, 'a')) {
		if (commands_target(c, TARGET_SESSION, &at) != 0)
			return 1;
		list_windows(c, at.session,
			WINDOW_LINE
			"[layout #{window_layout}] #{window_id}#{?window_active, (active),}");
		return 0;
	}
	s = model_sessions_sorted(&c->t->model, &count);
	for (size_t i = 0; i < count; i++)
		list_windows(c, s[i], "#{session_name}:" WINDOW_LINE);
	return 0;
}

static void list_panes(struct call *c, struct link *l, const char *usual)
{
	struct pane *p;
	DL_FOREACH (l->window->panes, p)
		list_one(c,
			&(struct place){
				.session = l->session, .link = l, .window = l->window, .pane = p},
			usual);
}

int do_list_panes(struct call *c)
{
	size_t count;
	struct place at;
	struct link *l;
	bool all = args_has(&c->args, 'a'), whole = args_has(&c->args, 's');
	if (!all) {
		if (commands_target(c, whole ? TARGET_SESSION : TARGET_WINDOW, &at) != 0)
			return 1;
		if (!whole)
			list_panes(c, at.link, "#{pane_index}: " PANE_LINE);
		else
			DL_FOREACH (at.session->links, l)
				list_panes(c, l, "#{window_index}.#{pane_index}: " PANE_LINE);
		return 0;
	}
	struct session **s = model_sessions_sorted(&c->t->model, &count);
	for (size_t i = 0; i < count; i++)
		DL_FOREACH (s[i]->links, l)
			list_panes(
				c, l, "#{session_name}:#{window_index}.#{pane_index}: " PANE_LINE);
	return 0;
}

/* There are no clients in tmux's sense. */
int do_list_clients(struct call *c)
{
	struct place at;
	return args_value(&c->args, 't') ? commands_target(c, TARGET_SESSION, &at) : 0;
}

int do_list_commands(struct call *c)
{
	const char *template = args_value(&c->args, 'F'),
		   *only = c->args.count > 0 ? c->args.items[0] : NULL;
	for (const struct command_row *r = commands_table(); r->name; r++) {
		if (only && strcmp(r->name, only) != 0 && strcmp(r->alias, only) != 0)
			continue;
		json_t *more = json_pack("{s:s, s:s, s:s}", "command_list_name", r->name,
			"command_list_alias", r->alias, "command_list_usage", r->usage);
		struct format f = {.t = c->t, .more = more};
		tmux_say_line(c->t,
			format_expand(&f,
				template ? template
					 : "#{command_list_name}#{?command_list_alias, (#{command_list_alias}),} "
					   "#{command_list_usage}"));
		json_decref(more);
	}
	return 0;
}

/* display-message -a: print all variables that have a value. */
static void say_all(struct call *c, struct format *f)
{
	size_t count = 0;
	while (format_variables_name(count))
		count++;
	const char **names = arena_alloc(&c->t->arena, count * sizeof *names);
	for (size_t i = 0; i < count; i++)
		names[i] = format_variables_name(i);
	qsort(names, count, sizeof *names, commands_compare_names);
	for (size_t i = 0; i < count; i++) {
		const char *value = format_find(f, names[i], 0, NULL);
		if (value)
			tmux_say(c->t, "%s=%s\n", names[i], value);
	}
}

int do_display_message(struct call *c)
{
	struct place at = {.index = -1};
	const char *text = c->args.count > 0 ? c->args.items[0] : args_value(&c->args, 'F');
	if (args_has(&c->args, 'I'))
		return tmux_error(c->t, "display-message -I: not available here");
	if (c->args.count > 0 && args_value(&c->args, 'F'))
		return tmux_error(c->t, "only one of -F or argument must be given");
	/* A target that does not exist has no variables, which is not an error. */
	target_find(c->t, args_value(&c->args, 't'), TARGET_PANE, TARGET_QUIET, &at);
	struct format f = {.t = c->t, .at = at, .times = true};
	if (args_has(&c->args, 'a')) {
		f.times = false;
		say_all(c, &f);
		return 0;
	}
	if (!text)
		text = "[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)";
	if (args_has(&c->args, 'p'))
		tmux_say_line(c->t, format_expand(&f, text));
	return 0; /* without -p the message is for a client, and there is none */
}
