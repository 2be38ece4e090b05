/*
 * `ringside tmux`. A call locks and reads the state, fetches the list of sessions from the server, runs the
 * commands and writes the state. If it is killed, the old state remains.
 */
#include "ws/client/tmux/tmux.h"

#include "ws/client/connect/connection.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/pipe.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/state.h"
#include "ws/client/tmux/wake.h"
#include "ws/client/tmux/backend.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 60000u /* for an answer of the server */

#define USAGE                                                                     \
	"usage: tmux [-2CDlNuvV] [-c shell-command] [-f file] [-L socket-name]\n" \
	"            [-S socket-path] [-T features] [command [flags]]"

int tmux_error(struct tmux *t, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	text_print_list(&t->errors, format, list);
	va_end(list);
	text_puts(&t->errors, "\n");
	return 1;
}

void tmux_say(struct tmux *t, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	text_print_list(&t->out, format, list);
	va_end(list);
}

void tmux_say_line(struct tmux *t, const char *text)
{
	text_puts(&t->out, text);
	text_puts(&t->out, "\n");
}

void tmux_say_bytes(struct tmux *t, const char *bytes, size_t length)
{
	text_add(&t->out, bytes, length);
}

int tmux_flush(struct tmux *t)
{
	assert(t->lock < 0);
	fwrite(text_get(&t->out), 1, t->out.length, stdout);
	int rc = fflush(stdout) != 0 || ferror(stdout) ? 1 : 0;
	fwrite(text_get(&t->errors), 1, t->errors.length, stderr);
	t->out.length = t->errors.length = 0;
	return rc;
}

/* Options before the command. */
struct head {
	const char *label, *path, *shell_command;
	int first; /* index of the command in argv */
	bool version, starts_not;
};

/* Parse a common option of Ringside's commands. Returns 0, or 1 with an error. */
static int parse_common_option(struct tmux *t, const char *word, const char *next)
{
	const char *equals = strchr(word, '=');
	if (strncmp(word, "--socket", 8) == 0)
		t->cli->socket = equals ? equals + 1 : next;
	else if (strcmp(word, "--no-start") == 0)
		t->cli->no_start = true;
	else if (strcmp(word, "--help") == 0)
		t->help = true;
	else
		return tmux_error(t,
			"%s: not available with tmux, which needs a server on this machine", word);
	return 0;
}

static int parse_options(struct tmux *t, int argc, char **argv, struct head *h)
{
	int i = 1;
	for (; i < argc && cli_count_common_words(argv[i]) > 0;
		i += (int)cli_count_common_words(argv[i]))
		if (parse_common_option(t, argv[i], i + 1 < argc ? argv[i + 1] : "") != 0)
			return 1;
	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *c = argv[i] + 1;
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		for (; *c && !strchr("cfLST", *c); c++) {
			if (!strchr("2CDlNuvVqh", *c))
				return tmux_error(t, "tmux: unknown option -- %c\n" USAGE, *c);
			h->version = h->version || *c == 'V';
			h->starts_not = h->starts_not || *c == 'N';
			if (*c == 'C' || *c == 'D')
				return tmux_error(t, "-%c: not available here", *c);
			if (*c == 'h')
				return tmux_error(t, USAGE);
		}
		if (!*c)
			continue;
		const char *value = c[1] ? c + 1 : i + 1 < argc ? argv[++i] : NULL;
		if (!value)
			return tmux_error(t, "tmux: option requires an argument -- %c\n" USAGE, *c);
		if (*c == 'L')
			h->label = value;
		else if (*c == 'S')
			h->path = value;
		else if (*c == 'c')
			h->shell_command = value;
		else if (*c == 'f')
			t->file = value;
		/* -T, features of the terminal, is ignored. */
	}
	h->first = i;
	return 0;
}

static bool is_socket(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The path in $TMUX, before the first comma. NULL: not set, or set by a real tmux. */
static const char *find_inherited(struct tmux *t)
{
	const char *tmux = getenv("TMUX"), *pane = getenv("TMUX_PANE");
	if (!tmux || *tmux != '/')
		return NULL;
	char *path = arena_copy_n(&t->arena, tmux, strcspn(tmux, ","));
	if (is_socket(path))
		return NULL; /* of a real tmux */
	if (pane && *pane == '%')
		t->pane = (int)(strtoul(pane + 1, NULL, 10) & INT_MAX);
	return path;
}

/* Set the path that names the tmux server: by -S, $TMUX, or a label beside the server's socket. */
static int choose_path(struct tmux *t, const struct head *h)
{
	const char *inherited = find_inherited(t), *given = h->path;
	int length;
	if (!given && !h->label)
		given = inherited;
	if (given) {
		char *real = realpath(given, NULL);
		length = snprintf(t->path, sizeof t->path, "%s", real ? real : given);
		free(real);
	} else {
		const char *slash = strrchr(t->cli->path, '/'),
			   *label = h->label ? h->label : "default";
		if (strchr(label, '/') || *label == '.' || !*label)
			return tmux_error(t,
				"invalid server name: %s: must not be empty, start with \".\" or contain \"/\"",
				label);
		length = snprintf(t->path, sizeof t->path, "%.*s/tmux", (int)(slash - t->cli->path),
			t->cli->path);
		if (length < (int)sizeof t->path && mkdir(t->path, 0700) < 0 && errno != EEXIST)
			return tmux_error(t, "error creating %s (%s)", t->path, strerror(errno));
		length = snprintf(t->path, sizeof t->path, "%.*s/tmux/%s",
			(int)(slash - t->cli->path), t->cli->path, label);
	}
	if (length >= (int)(sizeof t->path - sizeof STATE_SUFFIX - 64))
		return tmux_error(t, "path too long: %s", t->path);
	if (!inherited || strcmp(inherited, t->path) != 0)
		t->pane = -1;
	return 0;
}

/* Whether one of the commands may start a server. */
static bool can_start(char **words, int count)
{
	bool begins = true;
	if (count == 0)
		return true;
	for (int i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		for (const struct command_row *r = commands_table(); begins && r->name; r++)
			if ((r->flags & ROW_STARTS_SERVER) && length > 0 &&
				(strncmp(r->name, words[i], length) == 0 ||
					strcmp(r->alias, words[i]) == 0))
				return true;
		begins = length > 0 && words[i][length - 1] == ';';
	}
	return false;
}

static int check_words(struct tmux *t, int count, char **words)
{
	for (int i = 0; i < count; i++)
		if (strcmp(quote_utf8(&t->arena, words[i]), words[i]) != 0)
			return tmux_error(
				t, "an argument is not UTF-8: %s", quote_utf8(&t->arena, words[i]));
	return 0;
}

static int run_words(struct tmux *t, int count, char **words)
{
	char name[] = "new-session", *usual[] = {name};
	int rc = state_open(t);
	if (rc == 0)
		rc = backend_refresh(t);
	/* If all panes have exited, so has the tmux server. */
	if (rc == 0 && t->model.started != 0 && !t->model.sessions) {
		json_t *list = json_incref(t->model.list);
		wake_all(t);
		model_finish(&t->model);
		model_init(&t->model, &t->arena);
		t->model.list = list;
	}
	if (rc == 0)
		rc = commands_run(t, count > 0 ? words : usual, count > 0 ? (unsigned)count : 1);
	if (t->lock >= 0) {
		int closed = state_close(t);
		rc = rc != 0 ? rc : closed;
		backend_delete_lost(t);
	}
	return rc;
}

static int connect_server(struct tmux *t, const struct head *h, int count, char **words)
{
	t->cli->quiet = true;
	t->cli->patience_ms = PATIENCE_MS;
	t->cli->starts = !h->starts_not && can_start(words, count);
	int rc = connection_open(t->cli);
	t->cli->quiet = false;
	if (rc == 0)
		return 0;
	return tmux_error(t, "error connecting to %s (%s)",
		t->cli->path[0] ? t->cli->path : "the server",
		t->cli->starts ? "it could not be started" : "no server is running there");
}

static int run_call(struct tmux *t)
{
	struct head h = {0};
	int argc = t->cli->argc;
	char **argv = t->cli->argv;
	if (argc > 1 && strcmp(argv[1], PIPE_COMMAND) == 0)
		return pipe_feed(t, argc - 2, argv + 2);
	int rc = parse_options(t, argc, argv, &h);
	if (rc == 0 && t->help) {
		cli_print_help(stdout, t->cli->command);
		return 0;
	}
	if (rc == 0 && h.version) {
		tmux_say_line(t, "tmux " TMUX_VERSION);
		return 0;
	}
	if (rc == 0 && h.shell_command)
		return execl("/bin/sh", "sh", "-c", h.shell_command, (char *)NULL) < 0 ? 1 : 0;
	int count = argc - h.first;
	char **words = argv + h.first;
	if (rc == 0)
		rc = check_words(t, count, words);
	if (rc == 0)
		rc = connect_server(t, &h, count, words);
	if (rc == 0)
		rc = choose_path(t, &h);
	return rc == 0 ? run_words(t, count, words) : rc;
}

static int run_tmux(struct cli *cli)
{
	struct tmux t = {.cli = cli, .lock = -1, .pane = -1};
	t.out.arena = t.errors.arena = &t.arena;
	int rc = run_call(&t);
	model_finish(&t.model);
	json_decref(t.lost);
	if (tmux_flush(&t) != 0 && rc == 0)
		rc = 1;
	arena_finish(&t.arena);
	return rc == 0 ? t.status : rc;
}

const struct command command_tmux = {
	.name = "tmux",
	.run = run_tmux,
	.arguments = "[-L NAME] [-S PATH] [COMMAND [FLAGS]]",
	.summary = "Emulate tmux, with a session for each pane",
	.options = "  -L NAME               name of the tmux server (default: default)\n"
		   "  -S PATH               path that names the tmux server, instead of -L\n"
		   "  -V                    print the emulated version, tmux 3.3a\n",
};
