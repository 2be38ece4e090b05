/*
 * The command runs in a session of its own, which is deleted when the command ends, or when we end
 * in any way but by the detach key. Its output is followed from the first byte.
 */
#include "ws/client/job/terminal.h"

#include "shell/id.h"
#include "ws/base64.h"
#include "ws/client/attach/tty.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/event_stream.h"
#include "ws/client/job/interactive.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PAUSE_MS 100u      /* before a lost server is asked again */
#define AWAY_MAX_MS 30000u /* wait this long for a lost server */
#define NAME_SHOWN 60u     /* bytes of the command in the session's name */

/* One `ringside run -it`. */
struct terminal_job {
	struct job *job;
	char id[4 + 17];
	struct interactive terminal;
	struct event_stream *follow; /* the current stream, or NULL */
	uv_timer_t timeout;
	uint64_t offset; /* of the next byte of output */
	bool over;
	bool left; /* by the detach key */
	bool timed_out;
	bool gone; /* the session was deleted */
};

static void finish(struct terminal_job *t)
{
	t->over = true;
	if (t->follow)
		t->follow->over = true;
}

void terminal_interrupted(struct job *j)
{
	if (j->terminal)
		finish(j->terminal);
}

/* The detach key was typed, or our terminal is gone. */
static void on_left(void *user)
{
	struct terminal_job *t = user;
	struct termios modes;
	t->left = tcgetattr(STDIN_FILENO, &modes) == 0;
	finish(t);
}

static void on_timeout(uv_timer_t *timer)
{
	struct terminal_job *t = timer->data;
	t->timed_out = true;
	finish(t);
}

/* The name in the list of sessions. */
static json_t *session_name(const char *command)
{
	char name[NAME_SHOWN + 1];
	size_t n = 0;
	for (; command[n] && n < NAME_SHOWN; n++)
		name[n] = command[n] < ' ' || command[n] > '~' ? '?' : command[n];
	return json_stringn(name, n);
}

static int make_session(struct terminal_job *t)
{
	struct job *j = t->job;
	unsigned cols, rows;
	struct answer a;
	const char *command = answer_text(j->body, "command");
	snprintf(t->id, sizeof t->id, "run-");
	int rc = id_hex(t->id + 4, sizeof t->id - 4);
	if (rc < 0)
		return cli_fail(j->cli, "%s", strerror(-rc));
	tty_size(&cols, &rows);
	json_t *body = json_pack("{s:s, s:o, s:[s, s, s], s:i, s:i}", "id", t->id, "name",
		session_name(command), "argv", "bash", "-c", command, "cols", (int)cols, "rows",
		(int)rows);
	json_t *cwd = json_object_get(j->body, "cwd"), *env = json_object_get(j->body, "env");
	if (body && cwd)
		json_object_set(body, "cwd", cwd);
	if (body && env)
		json_object_set(body, "env", env);
	rc = call_api(j->cli, "POST", strdup("/api/session/create"), body, &a);
	if (rc == 0)
		answer_finish(&a);
	return rc;
}

static void delete_session(struct terminal_job *t)
{
	struct answer a;
	int rc = call_try(t->job->cli, "POST", strdup("/api/session/delete"),
		json_pack("{s:s}", "sessionId", t->id), &a);
	if (rc == 0 && a.status != 200 && !t->gone)
		call_report_error(t->job->cli, &a);
	else if (rc < 0)
		cli_fail(t->job->cli,
			"lost the connection to the server; the command may still run in session %s",
			t->id);
	answer_finish(&a);
}

static void print_output(struct terminal_job *t, const json_t *event)
{
	size_t length;
	const char *text = json_string_value(json_object_get(event, "base64"));
	unsigned char *bytes = text ? base64_decode(text, &length) : NULL;
	if (!bytes)
		return;
	t->offset = (uint64_t)json_integer_value(json_object_get(event, "offset")) + length;
	if (!interactive_write(&t->terminal, (const char *)bytes, length))
		finish(t);
	free(bytes);
}

static void on_event(void *user, const json_t *event)
{
	struct terminal_job *t = user;
	const char *type = answer_text(event, "type");
	if (t->over)
		return;
	if (strcmp(type, "output") == 0) {
		print_output(t, event);
	} else if (strcmp(type, "gap") == 0) {
		t->job->lost += (uint64_t)json_integer_value(json_object_get(event, "bytes"));
	} else if (strcmp(type, "exit") == 0) {
		t->job->end = json_incref((json_t *)event);
		finish(t);
	} else if (strcmp(type, "gone") == 0) {
		t->gone = true;
		finish(t);
	}
}

/* Print output until the command is over. Returns 0 or the exit status. */
static int follow(struct terminal_job *t)
{
	struct cli *cli = t->job->cli;
	unsigned away_ms = 0;
	while (!t->over) {
		struct event_stream f = {.cli = cli, .event = on_event, .user = t};
		t->follow = &f;
		int rc = event_stream_start(&f, "GET",
			call_path(t->id, "/stream?from=%" PRIu64 "&types=output,exit&encoding=base64",
				t->offset),
			NULL);
		if (rc == 0)
			rc = event_stream_wait(&f);
		t->follow = NULL;
		away_ms = f.streaming ? 0 : away_ms + PAUSE_MS;
		int status = rc == -EPROTO && !t->over ? call_report_error(cli, &f.answer) : 0;
		event_stream_finish(&f);
		if (status != 0)
			return status;
		if (t->over)
			break;
		if (away_ms > AWAY_MAX_MS)
			return cli_fail(cli,
				"lost the connection to the server; the command runs on in session %s",
				t->id);
		usleep(PAUSE_MS * 1000);
		uv_run(&cli->loop, UV_RUN_NOWAIT); /* keys and signals */
	}
	return 0;
}

/* The exit status of a command that was killed by a signal. */
static int signal_status(const struct job *j)
{
	const json_t *signal = json_object_get(j->end, "signal");
	const char *name = json_string_value(signal);
	int number = name ? (int)strtol(name, NULL, 10) : 0; /* a signal without a name */
	for (int n = 1; name && number == 0 && n < NSIG; n++)
		if (sigabbrev_np(n) && strcmp(sigabbrev_np(n), name) == 0)
			number = n;
	return number > 0 ? 128 + number
			  : cli_fail(j->cli, "the exit status of the command is unknown");
}

/* The exit status for the command's end. */
static int find_status(const struct terminal_job *t)
{
	const struct job *j = t->job;
	const json_t *code = json_object_get(j->end, "code");
	if (t->timed_out)
		return CLI_TIME_OVER;
	if (j->interrupt.count > 0)
		return 128 + j->interrupt.signo;
	if (t->gone)
		return cli_fail(j->cli, "the command was killed: its session was deleted");
	if (!j->end)
		return 128 + SIGHUP; /* our terminal is gone */
	if (j->lost > 0)
		return cli_fail(
			j->cli, "%llu bytes of its output are lost", (unsigned long long)j->lost);
	return json_is_integer(code) ? (int)json_integer_value(code) : signal_status(j);
}

static int run_interactively(struct terminal_job *t, uint64_t timeout_ms)
{
	struct cli *cli = t->job->cli;
	int rc = interactive_open(&t->terminal, cli, t->id);
	if (rc != 0)
		return rc;
	uv_timer_init(&cli->loop, &t->timeout);
	t->timeout.data = t;
	if (timeout_ms > 0)
		uv_timer_start(&t->timeout, on_timeout, timeout_ms, 0);
	interactive_begin(&t->terminal);
	rc = follow(t);
	uv_close((uv_handle_t *)&t->timeout, NULL);
	interactive_close(&t->terminal);
	return rc;
}

int terminal_run(struct job *j, uint64_t timeout_ms)
{
	struct terminal_job t = {.job = j};
	t.terminal.left = on_left;
	t.terminal.user = &t;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cli_fail(j->cli, "standard input and output must be a terminal");
	j->terminal = &t; /* a signal may come before the session exists */
	int rc = make_session(&t);
	bool made = rc == 0;
	if (made)
		rc = run_interactively(&t, timeout_ms);
	j->terminal = NULL;
	if (!made)
		return rc;
	if (rc == 0 && t.left) {
		fprintf(stderr,
			"ringside run: the command runs on, in session %s; to go back: ringside attach %s; to kill it: "
			"ringside kill %s\n",
			t.id, t.id, t.id);
		return 0;
	}
	if (rc == 0)
		rc = find_status(&t);
	delete_session(&t);
	return rc;
}
