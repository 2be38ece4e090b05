/* run-shell, if-shell, source-file: commands that run commands. Shell commands run without the lock. */
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/script.h"
#include "ws/client/tmux/state.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)4 << 20)

static void print_output(struct tmux *t, const char *output)
{
	size_t length = strlen(output);
	tmux_say_bytes(t, output, length);
	if (length > 0 && output[length - 1] != '\n')
		tmux_say_line(t, "");
}

/* Run a shell command without the lock. Returns its status as in $?, or -1 if the state cannot be read again. */
static int run_unlocked(struct tmux *t, const char *command, char **ret_output)
{
	int status;
	if (commands_pause(t) != 0)
		return -1;
	*ret_output = script_capture(t, command, &status);
	if (commands_resume(t) != 0)
		return -1;
	return status < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int do_run_shell(struct call *c)
{
	struct tmux *t = c->t;
	struct place at = {.index = -1};
	const char *target = args_value(&c->args, 't'), *delay = args_value(&c->args, 'd');
	char *end, *output;
	double seconds = delay ? strtod(delay, &end) : 0;
	if (target && target_find(t, target, TARGET_PANE, 0, &at) != 0)
		return 1;
	if (!target)
		target_current(t, &at);
	if (delay && (end == delay || *end || !(seconds >= 0 && seconds < 1e8)))
		return tmux_error(t, "invalid delay time: %s", delay);
	const char *given = args_item(&c->args, 0);
	if (args_has(&c->args, 'C'))
		return delay ? tmux_error(t, "run-shell -C -d: not available here")
			     : commands_run_text(t, given);
	char *command = format_at(t, &at, given);
	if (args_has(&c->args, 'b'))
		return script_run_background(t, command, seconds);
	if (delay) {
		if (commands_pause(t) != 0)
			return 1;
		nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
				  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
			NULL);
		if (commands_resume(t) != 0)
			return 1;
	}
	if (!*command)
		return 0;
	int status = run_unlocked(t, command, &output);
	if (status < 0)
		return 1;
	print_output(t, output);
	if (status != 0) {
		tmux_say(c->t,
			status > 128 ? "'%s' terminated by signal %d\n" : "'%s' returned %d\n",
			command, status > 128 ? status - 128 : status);
		t->status = status;
	}
	return 0;
}

int do_if_shell(struct call *c)
{
	struct tmux *t = c->t;
	struct place at = {.index = -1};
	char *output;
	if (args_value(&c->args, 't')) {
		if (commands_target(c, TARGET_PANE, &at) != 0)
			return 1;
	} else {
		target_current(t, &at);
	}
	char *condition = format_at(t, &at, c->args.items[0]);
	bool yes = format_is_true(condition);
	char *then = arena_copy(&t->arena, c->args.items[1]);
	char *otherwise = arena_copy(&t->arena, args_item(&c->args, 2));
	if (!args_has(&c->args, 'F')) {
		int status = run_unlocked(t, condition, &output);
		if (status < 0)
			return 1;
		yes = status == 0;
	}
	return commands_run_text(t, yes ? then : otherwise);
}

static int source(struct call *c, const char *path)
{
	struct tmux *t = c->t;
	struct script_line *line;
	bool waits = !script_cannot_block(path);
	if (waits && commands_pause(t) != 0)
		return 1;
	struct text text = {.arena = &t->arena};
	int error = script_read_file(path, FILE_BYTES_MAX, &text), rc = 0;
	if (waits && commands_resume(t) != 0)
		return 1;
	if (error == 0 && text.length > FILE_BYTES_MAX)
		error = EFBIG;
	if (error != 0)
		return args_has(&c->args, 'q') ? 0 : tmux_error(t, "%s: %s", path, strerror(error));
	const char *wrong = script_parse(t, text_get(&text), &line);
	if (wrong)
		return tmux_error(t, "%s: %s", path, wrong);
	if (args_has(&c->args, 'n'))
		return 0;
	if (t->depth >= COMMANDS_DEPTH_MAX)
		return tmux_error(t, "too many nested files");
	t->depth++;
	/* Later lines run even if one fails. */
	for (; line; line = line->next) {
		char **words = arena_alloc(&t->arena, line->count * sizeof *words);
		for (unsigned i = 0; i < line->count; i++) {
			size_t length = strlen(line->words[i]);
			bool semicolon = length > 0 && line->words[i][length - 1] == ';';
			words[i] = semicolon
				? arena_print(&t->arena, "%.*s\\;", (int)length - 1, line->words[i])
				: line->words[i];
		}
		rc |= commands_run(t, words, line->count);
	}
	t->depth--;
	return rc;
}

int do_source_file(struct call *c)
{
	int rc = 0;
	for (unsigned i = 0; i < c->args.count; i++) {
		struct place at = {.index = -1};
		glob_t found;
		target_current(c->t, &at);
		const char *path = args_has(&c->args, 'F') ? format_at(c->t, &at, c->args.items[i])
							   : c->args.items[i];
		if (strcmp(path, "-") == 0 || glob(path, 0, NULL, &found) != 0) {
			rc |= source(c, path);
			continue;
		}
		for (size_t k = 0; k < found.gl_pathc; k++)
			rc |= source(c, found.gl_pathv[k]);
		globfree(&found);
	}
	return rc;
}
