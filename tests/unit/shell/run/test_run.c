#include "shell/own_error.h"
#include "shell/run/run.h"
#include "tests/lib/folder.h"
#include "tests/lib/open_fds.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const environment[] = {"PATH=/usr/bin:/bin", "BASE=1", NULL};

static struct folder folder;
static uv_loop_t loop;
static struct runs *all;

/* The result of a run. */
struct got {
	struct run *run;
	bool started, done;
	pid_t pid;
	int code, status;
	bool timed_out, cancelled;
	unsigned survivors;
	uint64_t omitted[RUN_STREAMS], total[RUN_STREAMS], live[RUN_STREAMS];
	char *text[RUN_STREAMS]; /* head and tail; NUL-terminated */
	size_t length[RUN_STREAMS], head[RUN_STREAMS];
	uint64_t duration_us;
	void (*then)(struct got *g); /* called at the end of on_done() */
};

static void on_started(void *user, pid_t pid)
{
	struct got *g = user;
	g->started = true;
	g->pid = pid;
}

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct got *g = user;
	(void)bytes;
	cr_assert(!g->done);
	g->live[stream] += length;
}

static void on_done(void *user, const struct run_result *result)
{
	struct got *g = user;
	cr_assert(!g->done);
	g->done = true;
	g->code = run_exit_code(result);
	g->status = result->status;
	g->timed_out = result->timed_out;
	g->cancelled = result->cancelled;
	g->survivors = result->survivors;
	g->duration_us = result->duration_us;
	cr_assert_geq(result->ended_ms + 1, result->started_ms);
	for (int i = 0; i < RUN_STREAMS; i++) {
		const struct excerpt_parts *p = &result->output[i];
		g->omitted[i] = p->omitted;
		g->total[i] = p->total;
		g->head[i] = p->head_length;
		g->length[i] = p->head_length + p->tail_length;
		g->text[i] = calloc(1, g->length[i] + 1);
		if (p->head_length > 0)
			memcpy(g->text[i], p->head, p->head_length);
		if (p->tail_length > 0)
			memcpy(g->text[i] + p->head_length, p->tail, p->tail_length);
	}
	if (g->then)
		g->then(g);
}

static const struct run_callbacks callbacks = {
	.started = on_started, .output = on_output, .done = on_done};

static struct run_options options(const char *command)
{
	return (struct run_options){.command = command,
		.command_length = strlen(command),
		.cwd = "/",
		.terminals = true,
		.rows = 24,
		.cols = 80,
		.output_max = RUN_OUTPUT_DEFAULT};
}

static void got_free(struct got *g)
{
	for (int i = 0; i < RUN_STREAMS; i++)
		free(g->text[i]);
	*g = (struct got){0};
}

static void start(const struct run_options *o, struct got *g)
{
	int rc = run_start(all, o, &callbacks, g, &g->run);
	cr_assert_eq(rc, 0, "%s", strerror(-rc));
}

static struct got got; /* of the last run */

static void start_last(const struct run_options *o)
{
	got_free(&got);
	start(o, &got);
}

static void finish(const struct run_options *o)
{
	start_last(o);
	cr_assert(got.started);
	cr_assert(LOOP_UNTIL(&loop, got.done), "the run does not end: %s", o->command);
}

static void run(const char *command)
{
	struct run_options o = options(command);
	finish(&o);
}

static bool is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	bool there = f && fgets(text, sizeof text, f) && !strstr(text, ") Z");
	if (f)
		fclose(f);
	return there;
}

static void open_all(void)
{
	folder_make(&folder);
	struct runs_config config = {.holder = getenv("RINGSIDE_HOLDER"),
		.environment = (char *const *)(uintptr_t)environment};
	cr_assert_not_null(config.holder, "RINGSIDE_HOLDER must be the path of the holder");
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(runs_open(&loop, &config, &all), 0);
}

static void close_all(void)
{
	runs_close(all);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
	folder_remove(&folder);
}

static void tear_down(void)
{
	close_all();
	got_free(&got);
}

TestSuite(run, .init = open_all, .fini = tear_down, .timeout = 60);

Test(run, status_and_output)
{
	static const struct {
		const char *command;
		int code;
		const char *out, *err;
	} cases[] = {
		{"true", 0, "", ""},
		{"false", 1, "", ""},
		{"exit 255", 255, "", ""},
		{"echo a; echo b >&2; exit 3", 3, "a\n", "b\n"},
		{"kill -TERM $$", 143, "", ""},
		{"kill -KILL $$", 137, "", ""},
		{"(bash -c 'kill -USR1 $BASHPID'; exit $?) 2>/dev/null", 138, "", ""},
		{"nonexistent-command 2>/dev/null", 127, "", ""},
		{"/ 2>/dev/null", 126, "", ""},
		{"echo -n no newline", 0, "no newline", ""},
		{"exec >&-; exec 2>&-; sleep 0.1; exit 4", 4, "", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		run(cases[i].command);
		cr_expect_eq(got.code, cases[i].code, "%s: %d", cases[i].command, got.code);
		cr_expect_str_eq(got.text[0], cases[i].out, "%s: %s", cases[i].command, got.text[0]);
		cr_expect_str_eq(got.text[1], cases[i].err, "%s: %s", cases[i].command, got.text[1]);
		cr_expect(!got.timed_out && !got.cancelled && got.survivors == 0);
	}
}

Test(run, environment_and_directory)
{
	static const char *const names[] = {"ASKED", "BASE"};
	static const char *const values[] = {"for it", "2"};
	struct run_options o = options(
		"echo $ASKED,$BASE,$TERM,$PWD,$PAGER; ! env | grep -i ringside");
	o.env_names = names;
	o.env_values = values;
	o.env_count = 2;
	o.cwd = "/tmp/../etc";
	finish(&o);
	cr_expect_str_eq(got.text[0], "for it,2,xterm-256color,/etc,cat\n", "%s", got.text[0]);
	cr_expect_eq(got.code, 0);
	o.terminals = false;
	finish(&o);
	cr_expect_str_eq(got.text[0], "for it,2,xterm-256color,/etc,\n", "%s", got.text[0]);
}

Test(run, refused_options_start_nothing)
{
	struct run_options o = options("touch /tmp/should-not-exist");
	unsigned before = open_fds();
	static const struct {
		const char *cwd;
		int rc;
	} places[] = {{"/nonexistent", -ENOENT}, {"/etc/passwd", -ENOTDIR}, {"relative", -EINVAL},
		{"/etc/passwd/x", -ENOTDIR}, {NULL, -EINVAL}};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		o.cwd = places[i].cwd;
		cr_expect_eq(run_start(all, &o, &callbacks, &got, &got.run), places[i].rc);
	}
	o.cwd = "/";
	o.command_length = 0;
	cr_expect_eq(run_start(all, &o, &callbacks, &got, &got.run), -EINVAL);
	o.command = "a\0b";
	o.command_length = 3;
	cr_expect_eq(run_start(all, &o, &callbacks, &got, &got.run), -EINVAL);
	cr_expect(runs_idle(all));
	cr_expect(!got.started);
	cr_expect_eq(open_fds(), before);
}

Test(run, environment_that_is_too_large)
{
	char *value = calloc(1, 200001);
	memset(value, 'x', 200000);
	const char *name = "LARGE", *const values[] = {value};
	struct run_options o = options("true");
	o.env_names = &name;
	o.env_values = values;
	o.env_count = 1;
	cr_expect_eq(run_start(all, &o, &callbacks, &got, &got.run), -E2BIG);
	free(value);
}

Test(run, timeout_keeps_the_output)
{
	struct run_options o = options("echo before; echo err >&2; sleep 100; echo never");
	o.timeout_ms = 1000;
	finish(&o);
	cr_expect(got.timed_out);
	cr_expect_eq(got.code, RUN_TIMEOUT_CODE);
	cr_expect_str_eq(got.text[0], "before\n");
	/* bash may have had time to report the end of sleep. */
	cr_expect_eq(strncmp(got.text[1], "err\n", 4), 0, "%s", got.text[1]);
	cr_expect_eq(got.survivors, 0);
	cr_expect_lt(got.duration_us, 2900000, "there is no grace period when all have exited");
}

/* The process that the script waits for is one of many that are killed. */
Test(run, timeout_does_not_let_the_script_continue)
{
	struct run_options o = options("sleep 100 & first=$!\n"
				       "for i in {1..200}; do sleep 100 & done\n"
				       "echo before; wait $first; echo never");
	o.timeout_ms = 1500;
	finish(&o);
	cr_expect(got.timed_out);
	cr_expect_str_eq(got.text[0], "before\n");
	cr_expect_eq(got.survivors, 0);
}

Test(run, timeout_kills_processes_that_ignore_it_or_have_left_the_group)
{
	struct run_options o = options(
		"trap '' TERM; sleep 101 & echo $!\n"
		"setsid sleep 102 & echo $!\n" /* ignores TERM too */
		"(trap - TERM; setsid sleep 103 & echo $!)\n"
		"(trap - TERM; trap 'echo got it; exit' TERM; while :; do sleep 0.05; done) & echo $!\n"
		"set -m; sleep 104 & echo $!\n" /* a group of its own */
		"(setsid setsid --fork sleep 105; :)\n"
		"while :; do sleep 0.1; done");
	o.timeout_ms = 500;
	finish(&o);
	cr_expect_eq(got.code, RUN_TIMEOUT_CODE);
	cr_expect_eq(got.survivors, 0);
	cr_expect_not_null(strstr(got.text[0], "got it"), "%s", got.text[0]);
	cr_expect_gt(got.duration_us, 2000000, "KILL comes after the grace");
	char *at = got.text[0];
	for (int i = 0; i < 5; i++) {
		pid_t pid = (pid_t)strtol(at, &at, 10);
		cr_expect_gt(pid, 0, "%s", got.text[0]);
		cr_expect(!is_alive(pid), "process %d", i);
	}
}

Test(run, cancel)
{
	struct run_options o = options(
		"trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.02; done");
	start_last(&o);
	cr_assert(LOOP_UNTIL(&loop, got.live[RUN_STDOUT] == 3));
	run_cancel(got.run, 5000);
	run_cancel(got.run, 9000);
	cr_assert(!got.done);
	cr_assert(LOOP_UNTIL(&loop, got.done));
	cr_expect(got.cancelled && !got.timed_out);
	cr_expect_eq(got.code, 5);
	cr_expect_str_eq(got.text[0], "on\nbye\n");
	/* The shorter grace period counts. */
	o.command = "trap '' TERM; echo on; while :; do sleep 0.02; done";
	o.command_length = strlen(o.command);
	start_last(&o);
	cr_assert(LOOP_UNTIL(&loop, got.live[RUN_STDOUT] == 3));
	run_cancel(got.run, 3600000);
	run_cancel(got.run, 0);
	cr_assert(LOOP_UNTIL(&loop, got.done));
	cr_expect_eq(got.code, 128 + SIGKILL);
}

Test(run, background_job_delays_nothing_and_lives_on)
{
	for (int terminals = 0; terminals < 2; terminals++) {
		struct run_options o = options("(sleep 1000; echo late) & echo $!");
		o.terminals = terminals;
		finish(&o);
		pid_t pid = (pid_t)strtol(got.text[0], NULL, 10);
		cr_expect_lt(got.duration_us, 5000000);
		cr_expect(is_alive(pid));
		for (int i = 0; i < 20; i++)
			uv_run(&loop, UV_RUN_NOWAIT);
		cr_expect(is_alive(pid), "closing its terminal does not kill it");
		kill(-got.pid, SIGKILL);
		cr_expect(UNTIL(!is_alive(pid)));
	}
}

Test(run, background_output_does_not_delay_the_end)
{
	for (int terminals = 0; terminals < 2; terminals++) {
		struct run_options o = options("yes & echo $! >&2");
		o.terminals = terminals;
		finish(&o);
		pid_t pid = (pid_t)strtol(got.text[1], NULL, 10);
		/* Its output is closed: SIGPIPE. */
		cr_expect(UNTIL(!is_alive(pid)));
	}
}

Test(run, twenty_megabytes_exactly)
{
	for (int terminals = 0; terminals < 2; terminals++) {
		struct run_options o = options(
			"head -c 20971520 /dev/zero | tr '\\0' '\\377'; printf '\\0\\0end' >&2");
		o.terminals = terminals;
		o.output_max = 32 << 20;
		finish(&o);
		cr_assert_eq(got.length[RUN_STDOUT], 20971520);
		cr_expect_eq(got.live[RUN_STDOUT], 20971520);
		cr_expect_eq(got.omitted[RUN_STDOUT], 0);
		for (size_t i = 0; i < got.length[RUN_STDOUT]; i++)
			cr_assert_eq((uint8_t)got.text[RUN_STDOUT][i], 0xff);
		cr_expect_eq(got.length[RUN_STDERR], 5);
		cr_expect_eq(memcmp(got.text[RUN_STDERR], "\0\0end", 5), 0);
	}
}

Test(run, head_and_tail)
{
	struct run_options o = options("seq 100000; seq 10 >&2");
	o.output_max = 1000;
	finish(&o);
	cr_expect_eq(got.total[RUN_STDOUT], 588895);
	cr_expect_eq(got.omitted[RUN_STDOUT], 587895);
	cr_expect_eq(got.head[RUN_STDOUT], 500);
	cr_expect_eq(strncmp(got.text[0], "1\n2\n3\n", 6), 0);
	cr_expect_str_eq(got.text[0] + got.length[0] - 13, "99999\n100000\n");
	cr_expect_eq(got.omitted[RUN_STDERR], 0);
	cr_expect_eq(got.length[RUN_STDERR], 21);
}

Test(run, memory_of_all_runs_is_limited)
{
	static struct got g[12];
	struct run_options o = options("head -c 33554432 /dev/zero; sleep 1000");
	o.output_max = RUN_OUTPUT_MAX;
	o.terminals = false;
	uint64_t bytes = 0;
	for (int i = 0; i < 12; i++)
		start(&o, &g[i]);
	for (int i = 0; i < 12; i++)
		cr_assert(LOOP_UNTIL(&loop, g[i].live[RUN_STDOUT] == 33554432));
	for (int i = 0; i < 12; i++)
		run_cancel(g[i].run, 0);
	for (int i = 0; i < 12; i++) {
		cr_assert(LOOP_UNTIL(&loop, g[i].done));
		cr_expect_eq(g[i].total[RUN_STDOUT], 33554432);
		cr_expect_eq(g[i].omitted[RUN_STDOUT] + g[i].length[RUN_STDOUT], 33554432);
		bytes += g[i].length[RUN_STDOUT];
		got_free(&g[i]);
	}
	cr_expect_leq(bytes, RUNS_MEMORY_MAX);
	/* Freed memory can be used again. */
	o = options("head -c 33554432 /dev/zero");
	o.output_max = RUN_OUTPUT_MAX;
	finish(&o);
	cr_expect_eq(got.omitted[RUN_STDOUT], 0);
}

Test(run, flood_does_not_starve_other_runs)
{
	struct got flood = {0};
	struct run_options o = options("yes");
	start(&o, &flood);
	o.terminals = false;
	struct got other = {0};
	start(&o, &other);
	cr_assert(LOOP_UNTIL(&loop, flood.live[RUN_STDOUT] > 0 && other.live[RUN_STDOUT] > 0));
	uint64_t before = flood.live[RUN_STDOUT] + other.live[RUN_STDOUT];
	uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_leq(flood.live[RUN_STDOUT] + other.live[RUN_STDOUT] - before, 1 << 20);
	for (int i = 0; i < 20; i++) {
		run("echo hi");
		cr_expect_str_eq(got.text[0], "hi\n");
	}
	run_cancel(flood.run, 0);
	run_cancel(other.run, 0);
	cr_assert(LOOP_UNTIL(&loop, flood.done && other.done));
	got_free(&flood);
	got_free(&other);
}

static void start_another(struct got *g)
{
	struct run_options o = options("echo second");
	g->then = NULL;
	static struct got second;
	start(&o, &second);
	g->run = second.run;
	g->started = false;
	second.then = NULL;
}

Test(run, done_can_start_another_run)
{
	struct got g = {.then = start_another};
	struct run_options o = options("echo first");
	start(&o, &g);
	cr_assert(LOOP_UNTIL(&loop, g.done && runs_idle(all)));
	got_free(&g);
}

Test(run, number_of_runs_is_limited)
{
	static struct got g[RUNS_MAX];
	struct got more = {0};
	struct run_options o = options("read -r x </dev/fd/0; exec sleep 1000");
	unsigned before = open_fds();
	for (unsigned i = 0; i < RUNS_MAX; i++) {
		o.terminals = i % 8 == 0; /* the machine has few terminals */
		start(&o, &g[i]);
	}
	cr_expect_eq(run_start(all, &o, &callbacks, &more, &more.run), -ERR_LIMIT);
	runs_cancel_all(all, 300);
	cr_assert(LOOP_UNTIL(&loop, runs_idle(all)));
	for (unsigned i = 0; i < RUNS_MAX; i++) {
		cr_expect(g[i].done && g[i].cancelled && g[i].survivors == 0);
		got_free(&g[i]);
	}
	/* A runner exits a moment after its last message. */
	cr_expect(LOOP_UNTIL(&loop, open_fds() == before));
}

/* As when the server exits. */
TestSuite(runs_close, .timeout = 60);

Test(runs_close, kills_all_processes)
{
	struct got g[3] = {{0}};
	open_all();
	struct run_options o = options("trap '' TERM; setsid sleep 1000 & echo $!; sleep 1000");
	for (int i = 0; i < 3; i++)
		start(&o, &g[i]);
	for (int i = 0; i < 3; i++)
		cr_assert(LOOP_UNTIL(&loop, g[i].live[RUN_STDOUT] > 0));
	close_all();
	for (int i = 0; i < 3; i++) {
		pid_t pid = (pid_t)strtol(g[i].text[0], NULL, 10);
		cr_expect(g[i].done && g[i].cancelled);
		cr_expect_gt(pid, 0);
		cr_expect(!is_alive(pid));
		cr_expect(!is_alive(g[i].pid));
		got_free(&g[i]);
	}
}

Test(runs_close, just_opened)
{
	open_all();
	close_all();
	runs_close(NULL);
}

/* The pid that a command has written to a file of the folder. */
static pid_t pid_in(const struct folder *f, const char *name)
{
	char text[32] = "";
	int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!read(fd, text, sizeof text - 1);
		close(fd);
	}
	return strchr(text, '\n') ? (pid_t)strtol(text, NULL, 10) : 0;
}

Test(runs_close, everything_is_killed_when_the_server_is_killed)
{
	struct folder place;
	folder_make(&place);
	pid_t server = fork();
	if (server == 0) {
		struct run_options o = options(
			"trap '' TERM HUP; echo $$ >a; setsid sh -c 'trap \"\" TERM HUP; echo $$ >b; sleep 1000; :' & sleep 1000");
		o.cwd = place.path;
		setenv("TMPDIR", place.path, 1);
		open_all();
		start_last(&o);
		for (;;)
			uv_run(&loop, UV_RUN_ONCE);
	}
	cr_assert(UNTIL(pid_in(&place, "a") > 0 && pid_in(&place, "b") > 0));
	pid_t a = pid_in(&place, "a"), b = pid_in(&place, "b");
	cr_expect(is_alive(a) && is_alive(b));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	cr_expect(UNTIL(!is_alive(a) && !is_alive(b)));
	folder_remove(&place);
}
