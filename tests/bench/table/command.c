/* Rows: the prompt of a new shell, commands in an existing shell, and runs. */
#include "process.h"
#include "stats.h"
#include "table/rows.h"
#include "table/scene.h"
#include "web.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELLS 20    /* per round */
#define COMMANDS 100 /* per round, of each kind */
#define RUNS 200
#define AT_ONCE 8
#define WAIT_MS 10000
#define PROMPT "READY "
#define EXEC "/api/session/exec/exec"

extern char **environ;

/* The end of bash's default prompt. */
static const char *default_prompt(void)
{
	return geteuid() == 0 ? "# " : "$ ";
}

static double prompt_us(const struct scene *s, enum way way)
{
	char answer[4096];
	uint64_t start = stats_now_ns();
	if (way == WAY_BARE) {
		int master;
		pid_t pid = process_on_pty("/bin/bash", &master);
		process_expect(master, default_prompt());
		double us = stats_us_since(start);
		close(master);
		process_kill(pid);
		return us;
	}
	if (way == WAY_RINGSIDE &&
		target_http(&s->target, "POST /api/session/create", "{\"id\":\"prompt\"}", answer,
			sizeof answer) != 200)
		die(answer);
	struct client *c = way == WAY_RELAY
		? client_open_plain(s->relay.port, "bash", default_prompt())
		: client_open(s->target.port, "prompt", "", default_prompt());
	client_wait(c);
	double us = stats_us_since(start);
	client_close(c);
	if (way == WAY_RINGSIDE)
		target_delete(&s->target, "prompt");
	return us;
}

void row_prompt(struct scene *s)
{
	double us[WAYS][SHELLS];
	char path[96];
	snprintf(path, sizeof path, "%s/bash", s->target.dir);
	if (symlink("/bin/bash", path) < 0 && errno != EEXIST)
		die(path);
	for (unsigned i = 0; i < SHELLS; i++)
		for (int w = 0; w < WAYS; w++)
			us[w][i] = prompt_us(s, (enum way)w);
	for (int w = 0; w < WAYS; w++)
		scene_add_times(s, "prompt", "prompt of a new session", (enum way)w, us[w], SHELLS);
}

/* Make a home like that of a long-time bash user. ret_path: at least 96 bytes. */
static void make_rich_home(const struct scene *s, char *ret_path)
{
	char file[128];
	snprintf(ret_path, 96, "%s/rich", s->target.dir);
	if (mkdir(ret_path, 0700) < 0 && errno != EEXIST)
		die(ret_path);
	snprintf(file, sizeof file, "%s/.bashrc", ret_path);
	FILE *f = fopen(file, "w");
	if (!f)
		die(file);
	for (unsigned i = 0; i < 400; i++)
		fprintf(f,
			"function_%u() {\n\tlocal word=$1 count=0\n\twhile [ \"$count\" -lt %u ]; do\n"
			"\t\tprintf '%%s\\n' \"$word\"\n\t\tcount=$((count + 1))\n\tdone\n}\n",
			i, i);
	for (unsigned i = 0; i < 200; i++)
		fprintf(f, "alias alias_%u='ls -l --color=auto /tmp/%u'\n", i, i);
	for (unsigned i = 0; i < 300; i++)
		fprintf(f, "export VARIABLE_%u='some value of variable %u'\n", i, i);
	fprintf(f, "PS1='" PROMPT "'\n");
	fclose(f);
}

/* Start a bash on a bare PTY like the session's. rich: the home, or NULL for none. */
static int open_bare(const struct scene *s, const char *rich, pid_t *ret_pid)
{
	char text[512] = TARGET_BASH, path[128];
	int master;
	if (rich)
		snprintf(text, sizeof text, "#!/bin/sh\nexport HOME=%s\nexec bash -i\n", rich);
	target_script(&s->target, "shell", text, path);
	*ret_pid = process_on_pty(path, &master);
	process_expect(master, PROMPT);
	return master;
}

static double typed_us(int master, const char *command)
{
	char line[64];
	int length = snprintf(line, sizeof line, "%s\r", command);
	uint64_t start = stats_now_ns();
	if (write(master, line, (size_t)length) != length)
		die("write");
	process_expect(master, PROMPT);
	return stats_us_since(start);
}

/* A command over a route of the API, and typed into the same kind of shell. */
struct request_case {
	const char *row, *name;
	const char *rich; /* home, or NULL for an empty one */
	const char *command;
	const char *path, *session; /* the route; the session in its body, or NULL */
	unsigned times;
	const char *middle; /* of its output, so that none is missing; or NULL */
};

/* Measure both in turn, so that noise affects both. */
static void measure_command(struct scene *s, const struct request_case *a)
{
	double us[2][COMMANDS];
	char body[256];
	struct web w;
	pid_t pid;
	int master = open_bare(s, a->rich, &pid);
	snprintf(body, sizeof body, "{\"command\":\"%s\"%s%s%s}", a->command,
		a->session ? ",\"sessionId\":\"" : "", a->session ? a->session : "",
		a->session ? "\"" : "");
	web_open(&w, s->target.port);
	web_ask_us(&w, a->path, body, a->middle ? a->middle : "\"exitCode\":0");
	for (unsigned i = 0; i < a->times; i++) {
		us[0][i] = typed_us(master, a->command);
		us[1][i] = web_ask_us(&w, a->path, body, "\"exitCode\":0");
	}
	struct figure *f = figures_at(&s->figures, a->row, a->name, "us", BETTER_LESS);
	figure_add(f, WAY_BARE, stats_median(us[0], a->times));
	figure_add(f, WAY_RINGSIDE, stats_median(us[1], a->times));
	web_close(&w);
	close(master);
	process_kill(pid);
}

void row_execute(struct scene *s)
{
	char rich[96], options[160];
	make_rich_home(s, rich);
	target_session_with(&s->target, "plain", "\"shell\":\"/bin/bash\"");
	snprintf(options, sizeof options, "\"env\":{\"HOME\":\"%s\"}", rich);
	target_session_with(&s->target, "rich", options);
	for (unsigned i = 0; i < 4; i++) {
		char name[64];
		struct request_case a = {.row = "execute",
			.name = name,
			.rich = i < 2 ? NULL : rich,
			.command = i % 2 ? "/bin/true" : ":",
			.path = "/api/execute",
			.session = i < 2 ? "plain" : "rich",
			.times = COMMANDS};
		snprintf(name, sizeof name, "execute %s, %s home", a.command,
			a.rich ? "rich" : "empty");
		measure_command(s, &a);
	}
	target_delete(&s->target, "plain");
	target_delete(&s->target, "rich");
}

static pid_t spawn_true(void)
{
	static char *const argv[] = {(char *)(uintptr_t) "bash", (char *)(uintptr_t) "-c",
		(char *)(uintptr_t) "true", NULL};
	pid_t pid;
	if (posix_spawn(&pid, "/bin/bash", NULL, NULL, argv, environ) != 0)
		die("posix_spawn");
	return pid;
}

/* Run at_once processes in parallel from this process. Returns commands per second. */
static double spawn_all(unsigned at_once)
{
	pid_t running[AT_ONCE];
	uint64_t start = stats_now_ns();
	for (unsigned i = 0; i < RUNS + at_once; i++) {
		int status = 0;
		if (i >= at_once && (waitpid(running[i % at_once], &status, 0) < 0 || status != 0))
			die("bash");
		if (i < RUNS)
			running[i % at_once] = spawn_true();
	}
	return RUNS / stats_us_since(start) * 1e6;
}

/* Run a command on the i-th connection: alone, or in a session of its own. */
static void ask_command(struct web *w, bool in_sessions, unsigned i)
{
	char path[64] = "/api/run";
	if (in_sessions)
		snprintf(path, sizeof path, "/api/session/all%u/exec", i);
	web_ask(w, path, "", "{\"command\":\"true\"}");
}

/* Keep one command running on each of at_once connections. Returns commands per second. */
static double run_all(const struct scene *s, unsigned at_once, bool in_sessions)
{
	struct web webs[AT_ONCE];
	struct pollfd polled[AT_ONCE];
	unsigned asked = at_once, done = 0;
	for (unsigned i = 0; i < at_once; i++) {
		web_open(&webs[i], s->target.port);
		polled[i] = (struct pollfd){.fd = webs[i].fd, .events = POLLIN};
	}
	uint64_t start = stats_now_ns();
	for (unsigned i = 0; i < at_once; i++)
		ask_command(&webs[i], in_sessions, i);
	while (done < RUNS) {
		errno = 0;
		if (poll(polled, at_once, WAIT_MS) <= 0)
			die("no answer");
		for (unsigned i = 0; i < at_once; i++) {
			const char *answer;
			if (!polled[i].revents || !(answer = web_read(&webs[i])))
				continue;
			if (!strstr(answer, "\"exitCode\":0"))
				die(answer);
			done++;
			if (asked++ < RUNS)
				ask_command(&webs[i], in_sessions, i);
		}
	}
	double rate = RUNS / stats_us_since(start) * 1e6;
	for (unsigned i = 0; i < at_once; i++)
		web_close(&webs[i]);
	return rate;
}

void row_run(struct scene *s)
{
	for (unsigned at_once = 1; at_once <= AT_ONCE; at_once += AT_ONCE - 1) {
		struct figure *f = figures_at(&s->figures, "run",
			at_once == 1 ? "run true, one at a time" : "run true, eight at once", "/s",
			BETTER_MORE);
		figure_add(f, WAY_BARE, spawn_all(at_once));
		figure_add(f, WAY_RINGSIDE, run_all(s, at_once, false));
	}
}

void row_exec(struct scene *s)
{
	static const struct request_case all[] = {
		{"exec", "session exec :", NULL, ":", EXEC, NULL, COMMANDS},
		{"exec", "session exec /bin/true", NULL, "/bin/true", EXEC, NULL, COMMANDS},
		{"exec", "session exec with 1 MB of output", NULL, "seq 150000", EXEC, NULL, 10,
			"\\n75000\\n"},
	};
	char id[16];
	target_session_with(&s->target, "exec", "\"shell\":\"/bin/bash\"");
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		measure_command(s, &all[i]);
	target_delete(&s->target, "exec");
	for (unsigned i = 0; i < AT_ONCE; i++) {
		snprintf(id, sizeof id, "all%u", i);
		target_session_with(&s->target, id, "\"shell\":\"/bin/bash\"");
	}
	struct figure *f = figures_at(
		&s->figures, "exec", "session exec, eight sessions at once", "/s", BETTER_MORE);
	figure_add(f, WAY_RINGSIDE, run_all(s, AT_ONCE, true));
	for (unsigned i = 0; i < AT_ONCE; i++) {
		snprintf(id, sizeof id, "all%u", i);
		target_delete(&s->target, id);
	}
}
