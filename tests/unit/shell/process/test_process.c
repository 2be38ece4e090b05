/* Processes in real holders, followed as the server does. */
#include "shell/process/processes.h"

#include "pty/spawn.h"
#include "pty/wire.h"
#include "shell/output/output_file.h"
#include "shell/output/streams.h"
#include "shell/own_error.h"
#include "shell/process/internal.h"
#include "tests/lib/folder.h"
#include "tests/lib/open_fds.h"
#include "tests/lib/shortage.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAITERS 64u
#define HOUR_MS 3600000

struct table {
	struct folder folder;
	uv_loop_t loop;
	uv_timer_t alive; /* like a server's timers: keeps the loop running */
	struct processes processes;
	unsigned started, failed, done, ended, complaints;
	int error;
	struct process_waiter waiters[WAITERS];
	unsigned tries;
};

static struct table t;

static void on_ended(void *user, const struct process *process)
{
	(void)process;
	((struct table *)user)->ended++;
}

static void on_failed(void *user, const char *id, const char *what, int error)
{
	struct table *table = user;
	(void)id;
	(void)what;
	(void)error;
	table->complaints++;
}

static const struct processes_callbacks callbacks = {.ended = on_ended, .failed = on_failed};

static void on_started(void *user, struct process *process, enum report_stage stage, int error)
{
	struct table *table = user;
	(void)process;
	(void)stage;
	table->error = error;
	table->started += error == 0;
	table->failed += error < 0;
}

static void on_done(void *user, struct process *process, enum report_stage stage, int error)
{
	struct table *table = user;
	(void)process;
	(void)stage;
	table->error = error;
	table->done++;
}

static void open_table(unsigned kept)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", inherited[] = "INHERITED=yes";
	static char *const environment[] = {path, inherited, NULL};
	struct processes_config config = {
		.runtime_dir = t.folder.path,
		.holder = getenv("RINGSIDE_HOLDER"),
		.cwd = "/",
		.environment = environment,
		.ring_size = RING_SIZE_MIN,
		.max = 4,
		.kept = kept,
		.ttl_s = 3600,
	};
	cr_assert_not_null(config.holder, "RINGSIDE_HOLDER must be the path of the holder");
	cr_assert_eq(processes_open(&t.processes, &t.loop, &config, &callbacks, &t), 0);
}

static void set_up(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans become our children */
	folder_make(&t.folder);
	until_open_loop(&t.loop, &t.alive, 10);
	open_table(2);
}

static void close_table(void)
{
	processes_close(&t.processes);
	uv_unref((uv_handle_t *)&t.alive);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	uv_ref((uv_handle_t *)&t.alive);
}

static void tear_down(void)
{
	processes_remove_all(&t.processes);
	cr_assert(LOOP_UNTIL(&t.loop, processes_idle(&t.processes)));
	uv_close((uv_handle_t *)&t.alive, NULL);
	close_table();
	cr_assert_eq(uv_loop_close(&t.loop), 0);
	folder_remove(&t.folder);
}

static int try(struct process_options *o)
{
	struct process_waiter *waiter = &t.waiters[t.tries++ % WAITERS];
	*waiter = (struct process_waiter){.done = on_started, .user = &t};
	o->command_length = o->command_length ? o->command_length : strlen(o->command);
	return processes_start(&t.processes, o, waiter);
}

static struct process *start(struct process_options o)
{
	unsigned before = t.started;
	cr_assert_eq(try(&o), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.started == before + 1 || t.failed > 0));
	cr_assert_eq(t.failed, 0, "%s", strerror(-t.error));
	return processes_find(&t.processes, o.id);
}

static const char *output(struct process *p, unsigned sources)
{
	static char text[1 << 17];
	uint64_t cursor = 0;
	size_t length = 0;
	struct streams_piece piece;
	cr_assert_eq(process_open_output(p), 0);
	const struct streams_range range = process_range(p, p->head, sources);
	while (streams_read(
		&range, &cursor, (uint8_t *)text + length, sizeof text - 1 - length, &piece))
		length += piece.length;
	text[length] = '\0';
	process_close_output(p);
	return text;
}

/* Run a process to its end; compare its output and exit code. */
static void assert_runs(struct process_options o, const char *out, const char *err, int want)
{
	int code = -1;
	struct process *p = start(o);
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	cr_assert(process_exit_code(p, &code));
	cr_assert_str_eq(output(p, STREAMS_STDERR), err);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), out);
	cr_assert_eq(code, want, "it ended with %d", code);
}

static unsigned count_directories(void)
{
	char path[512];
	unsigned count = 0;
	snprintf(path, sizeof path, "%s/processes", t.folder.path);
	DIR *dir = opendir(path);
	cr_assert_not_null(dir);
	for (struct dirent *d; (d = readdir(dir));)
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* Open the directory of a process. */
static int directory_of(const struct process *p)
{
	int fd = openat(
		t.processes.held.dir_fd, p->held.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	return fd;
}

static bool has_file(const struct process *p, const char *name)
{
	int fd = directory_of(p);
	bool found = faccessat(fd, name, F_OK, 0) == 0;
	close(fd);
	return found;
}

/* Whether a child of ours has exited, reaped or not. */
static bool is_gone(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid || kill(pid, 0) < 0;
}

/* Run a process to its end, whose output cannot be moved to a file. */
static struct process *start_blocked(struct process_options o)
{
	char wait[4096];
	const char *command = o.command;
	snprintf(wait, sizeof wait, "read x; %s", command);
	o.command = wait;
	o.input_pipe = true;
	struct process *p = start(o);
	int fd = directory_of(p);
	cr_assert_eq(mkdirat(fd, OUTPUT_FILE_NEW, 0700), 0);
	close(fd);
	cr_assert_eq(process_write(p, "\n", 1), 0);
	cr_assert(LOOP_UNTIL(
		&t.loop, p->tree == PROCESS_TREE_GONE && t.processes.counters.keep_failures > 0));
	cr_assert(p->output == PROCESS_OUTPUT_RING && process_has_holder(p));
	return p;
}

static void unblock(const struct process *p)
{
	int fd = directory_of(p);
	cr_assert_eq(unlinkat(fd, OUTPUT_FILE_NEW, AT_REMOVEDIR), 0);
	close(fd);
}

/* Start the next server, which adopts this many processes. Returns process "a", or NULL. */
static struct process *next_server(int adopted)
{
	close_table();
	open_table(2);
	cr_assert_eq(processes_adopt(&t.processes), adopted);
	return processes_find(&t.processes, "a");
}

static void expect_exit_code(const struct process *p, int want)
{
	int code;
	cr_assert(process_exit_code(p, &code));
	cr_expect_eq(code, want, "it is %d", code);
}

TestSuite(process, .init = set_up, .fini = tear_down, .timeout = 60);

Test(process, runs_and_ends)
{
	assert_runs((struct process_options){.id = "a", .command = "echo out; echo err >&2; exit 3"},
		"out\n", "err\n", 3);
	struct process *p = processes_find(&t.processes, "a");
	cr_assert_str_eq(process_status(p), "failed");
	cr_assert_eq(p->end_offset, p->head);
	cr_assert_eq(t.ended, 1);
	cr_assert_eq(t.processes.running, 0);
	cr_assert_eq(process_count_members(p), 0);
	cr_assert_eq(process_signal(p, SIGTERM, true), -ESRCH);
	cr_assert_eq(process_write(p, "x", 1), -ERR_NO_INPUT);
}

Test(process, refused_options)
{
	const struct {
		struct process_options o;
		int rc;
	} cases[] = {
		{{.id = "../x", .command = "true"}, -EINVAL},
		{{.id = "kill-all", .command = "true"}, -EINVAL},
		{{.id = "a", .command = "a\0b", .command_length = 3}, -EINVAL},
		{{.id = "a", .command = "\xff"}, -EILSEQ},
		{{.id = "a", .command = "true", .command_length = PROCESS_COMMAND_MAX + 1}, -E2BIG},
		{{.id = "a", .command = "true", .cwd = "/no/such/directory"}, -ENOENT},
		{{.id = "a", .command = "true", .cwd = "/dev/null"}, -ENOTDIR},
		{{.id = "a", .command = "true", .cwd = "relative"}, -EINVAL},
	};
	struct process_options o = {.id = "a", .command = "true"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct process_options refused = cases[i].o;
		cr_assert_eq(try(&refused), cases[i].rc, "case %zu", i);
	}
	cr_assert_eq(count_directories(), 0);
	start((struct process_options){.id = "a", .command = "sleep 1000"});
	cr_assert_eq(try(&o), -EEXIST);
	for (const char *id = "bcd"; *id; id++)
		start((struct process_options){.id = (char[]){*id, 0}, .command = "sleep 1000"});
	o.id = "e";
	cr_assert_eq(try(&o), -ERR_LIMIT);
}

Test(process, preamble_is_restored_and_leaves_no_trace)
{
	static const char preamble[] = "f() { echo \"f $1 $2\"; }\n"
				       "alias hello='echo hello'\nshopt -s expand_aliases\n"
				       "declare -x A=session B=session\nlocal_one=1\nset -u -x\n";
	const char *names[] = {"B", "C"}, *values[] = {"re'quest\n$x", "new"};
	struct process_options o = {
		.id = "a",
		.command = "{ set +x; } 2>/dev/null\n"
			   "hello world\n"
			   "f \"$0\" ${REPLY-unset}\n"
			   "echo \"$A|$B|$C|$local_one|${INHERITED-gone}|$-\"\n"
			   "exit 4",
		.preamble = preamble,
		.preamble_length = sizeof preamble - 1,
		.env_names = names,
		.env_values = values,
		.env_count = 2,
	};
	struct process *p = start(o);
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	expect_exit_code(p, 4);
	cr_assert_str_eq(output(p, STREAMS_STDOUT),
		"hello world\nf bash unset\nsession|re'quest\n$x|new|1|gone|huBc\n");
	/* The request's variables are set after the trace was turned on: only they show. */
	cr_assert_null(strstr(output(p, STREAMS_STDERR), "preamble"));
	cr_assert_null(strstr(output(p, STREAMS_STDERR), "eval"));
}

Test(process, errexit_of_a_preamble_applies_to_the_command_only)
{
	static const char preamble[] = "set -e\n";
	assert_runs((struct process_options){.id = "a",
			    .command = "echo one; false; echo two",
			    .preamble = preamble,
			    .preamble_length = sizeof preamble - 1},
		"one\n", "", 1);
}

Test(process, next_server_adopts_processes)
{
	struct process *p = start((struct process_options){
		.id = "a", .command = "read x; echo \"got $x\"; read x; exit 6", .input_pipe = true});
	start((struct process_options){.id = "b", .command = "exit 2"});
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	pid_t pid = p->pid;
	p = next_server(2);
	cr_assert(LOOP_UNTIL(&t.loop, !processes_adopting(&t.processes)));
	cr_assert_eq(p->pid, pid);
	cr_assert_str_eq(process_status(p), "running");
	cr_assert_str_eq(process_status(processes_find(&t.processes, "b")), "failed");
	cr_assert_eq(t.processes.running, 1);
	cr_assert_eq(process_write(p, "word\n", 5), 0);
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(p, STREAMS_STDOUT), "got word\n") == 0));
	cr_assert_eq(process_end_input(p), 0);
	cr_assert_eq(process_write(p, "x", 1), -EPIPE);
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	expect_exit_code(p, 6);
	cr_assert_eq(t.complaints, 0);
}

Test(process, kill_reports_when_all_are_gone)
{
	struct process_waiter waiter = {.done = on_done, .user = &t};
	struct process *p = start((struct process_options){.id = "a",
		.command =
			"trap '' TERM; (trap '' TERM; sleep 1000) & setsid sleep 1000 & echo up; sleep 1000; sleep 1000"});
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(p, STREAMS_STDOUT), "up\n") == 0));
	cr_assert(LOOP_UNTIL(&t.loop, process_count_members(p) >= 4));
	process_kill(p, 50, &waiter);
	cr_assert(LOOP_UNTIL(&t.loop, t.done == 1));
	cr_assert_eq(t.error, 0);
	cr_assert(p->tree == PROCESS_TREE_GONE);
	cr_assert_eq(process_count_members(p), 0);
	cr_assert_str_eq(process_status(p), "killed");
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "up\n");
	waiter = (struct process_waiter){.done = on_done, .user = &t};
	process_kill(p, 50, &waiter);
	cr_assert_eq(t.done, 2, "no process is left to wait for");
}

Test(process, kill_that_finds_no_memory_fails)
{
	struct process_waiter waiter = {.done = on_done, .user = &t};
	struct process *p = start(
		(struct process_options){.id = "a", .command = "echo up; sleep 1000; :"});
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(p, STREAMS_STDOUT), "up\n") == 0));
	shortage_after(0);
	process_kill(p, 0, &waiter);
	bool over = LOOP_UNTIL(&t.loop, t.done == 1);
	cr_assert_gt(shortage_over(), 0);
	cr_assert(over);
	cr_expect_eq(t.error, -ENOMEM);
	cr_expect(p->tree != PROCESS_TREE_GONE);
	waiter = (struct process_waiter){.done = on_done, .user = &t};
	process_kill(p, 0, &waiter);
	cr_assert(LOOP_UNTIL(&t.loop, t.done == 2));
	cr_expect_eq(t.error, 0);
	cr_expect(p->tree == PROCESS_TREE_GONE);
}

Test(process, old_ended_processes_are_removed)
{
	static const char *const ids[] = {"a", "b", "c", "d"};
	for (unsigned i = 0; i < 4; i++) {
		start((struct process_options){.id = ids[i], .command = "true"});
		cr_assert(LOOP_UNTIL(
			&t.loop, processes_find(&t.processes, ids[i])->tree == PROCESS_TREE_GONE));
	}
	cr_assert_eq(processes_count(&t.processes), 4, "recent ones are kept beyond the limit");
	for (unsigned i = 0; i < 4; i++)
		processes_find(&t.processes, ids[i])->ended_boot_ms -= PROCESSES_FRESH_MS + 1000 - i;
	cr_assert(LOOP_UNTIL(&t.loop, processes_count(&t.processes) == 2));
	cr_assert_null(processes_find(&t.processes, "a"));
	cr_assert_null(processes_find(&t.processes, "b"));
	cr_assert(LOOP_UNTIL(&t.loop, count_directories() == 2));
	processes_find(&t.processes, "d")->ended_boot_ms -= HOUR_MS;
	cr_assert(LOOP_UNTIL(&t.loop, processes_count(&t.processes) == 1));
	/* One that has left a job is kept, although it ended earlier. */
	struct process *left = start(
		(struct process_options){.id = "e", .command = "sleep 1000 & exit"});
	cr_assert(LOOP_UNTIL(&t.loop, left->ended_ms > 0));
	left->ended_boot_ms -= 2 * HOUR_MS;
	processes_find(&t.processes, "c")->ended_boot_ms -= HOUR_MS;
	cr_assert(LOOP_UNTIL(&t.loop, processes_count(&t.processes) == 1));
	cr_assert_eq(processes_find(&t.processes, "e"), left);
}

Test(process, a_step_of_the_wall_clock_removes_no_ended_process)
{
	struct process *p = start((struct process_options){.id = "a", .command = "exit 3"});
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	p->ended_ms -= 2 * HOUR_MS; /* as if the clock had been set two hours forward since */
	processes_sweep(&t.processes);
	cr_assert_eq(processes_find(&t.processes, "a"), p);
	cr_assert_eq(p->state, PROCESS_ENDED);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	p = next_server(1); /* its output is in a file now */
	cr_assert_eq(p->state, PROCESS_ENDED);
	processes_sweep(&t.processes);
	cr_assert_eq(processes_find(&t.processes, "a"), p);
}

Test(process, meta_is_read_back_or_refused)
{
	static const char *const broken[] = {"", "{}", "[1]", "{\"id\":\"../x\"}"};
	struct process *p = start((struct process_options){
		.id = "a", .command = "kill -9 $$", .session = "s", .timeout_ms = 5000});
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	struct process other = {0};
	int fd = directory_of(p);
	cr_assert_eq(process_meta_load(fd, &other), 0);
	close(fd);
	cr_assert_str_eq(other.held.id, "a");
	cr_assert_str_eq(other.session, "s");
	cr_assert_str_eq(other.command, "kill -9 $$");
	cr_assert_str_eq(other.cwd, "/");
	cr_assert_eq(other.timeout_ms, 5000);
	cr_assert_eq(other.pid, p->pid);
	cr_assert_eq(other.wait_status, p->wait_status);
	cr_assert_eq(other.ended_ms, p->ended_ms);
	cr_assert_eq(other.ended_boot_ms, p->ended_boot_ms);
	cr_assert_eq(other.end_offset, p->end_offset);
	free(other.command);
	free(other.cwd);
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct process none = {0};
		folder_put(&t.folder, "process.json", broken[i]);
		cr_assert_eq(process_meta_load(t.folder.fd, &none), -EBADMSG, "%s", broken[i]);
		cr_assert_null(none.command);
	}
}

Test(process, output_moves_to_a_file_and_the_holder_exits)
{
	unsigned before = open_fds();
	assert_runs((struct process_options){.id = "a",
			    .command = "echo out; echo err >&2; echo more; kill -TERM $$"},
		"out\nmore\n", "err\n", 128 + SIGTERM);
	struct process *p = processes_find(&t.processes, "a");
	pid_t holder = p->held.link.info.holder_pid;
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	cr_assert(LOOP_UNTIL(&t.loop, is_gone(holder)));
	cr_assert(has_file(p, OUTPUT_FILE));
	cr_assert(!has_file(p, "s"));
	/* The first child adds a descriptor for SIGCHLD. */
	cr_assert_leq(open_fds(), before + 1);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "out\nmore\n");
	cr_assert_str_eq(output(p, STREAMS_STDERR), "err\n");
	cr_assert_leq(open_fds(), before + 1);
	cr_assert_str_eq(process_status(p), "killed");
	cr_assert_eq(process_oldest(p), 0);
	cr_assert_eq(process_count_members(p), 0);
	cr_assert_lt(sizeof *p, 4096);
	processes_remove(p, 0, NULL);
	cr_assert(LOOP_UNTIL(&t.loop, processes_idle(&t.processes)));
	cr_assert_eq(count_directories(), 0);
	cr_assert_eq(t.complaints, 0);
}

/* The loss is reported as before: the ring has 64 KiB, so the oldest bytes are lost. */
static void assert_cut(struct process *p)
{
	struct streams_piece piece;
	uint8_t byte;
	uint64_t cursor = 0, lost = process_oldest(p);
	cr_assert_gt(lost, 0);
	cr_assert_eq(p->head, 100000u * 8);
	cr_assert_geq(lost, p->head - RING_SIZE_MIN);
	cr_assert_eq(process_open_output(p), 0);
	struct streams_range range = process_range(p, p->head, STREAMS_COMMAND);
	cr_assert(streams_read(&range, &cursor, &byte, 1, &piece));
	cr_assert_eq(piece.lost, lost);
	process_close_output(p);
	const char *text = output(p, STREAMS_STDOUT);
	cr_assert_str_eq(text + strlen(text) - 14, "299999\n300000\n");
}

Test(process, file_reports_what_the_ring_has_lost)
{
	struct process *p = start_blocked(
		(struct process_options){.id = "a", .command = "seq 200001 300000"});
	static char text[1 << 17];
	assert_cut(p);
	snprintf(text, sizeof text, "%s", output(p, STREAMS_STDOUT));
	unblock(p);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	assert_cut(p);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), text);
	p = next_server(1);
	assert_cut(p);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), text);
}

Test(process, kept_processes_are_adopted_without_a_holder)
{
	struct process_waiter waiter = {.done = on_done, .user = &t};
	struct process *p = start((struct process_options){
		.id = "a", .command = "echo here; kill -SEGV $$", .session = "s"});
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	uint64_t ended_ms = p->ended_ms;
	for (unsigned i = 0; i < 3; i++) {
		p = next_server(1);
		cr_assert(!processes_adopting(&t.processes), "no holder to wait for");
		expect_exit_code(p, 128 + SIGSEGV);
		cr_assert_eq(p->ended_ms, ended_ms);
		cr_assert_str_eq(process_status(p), "failed");
		cr_assert_str_eq(output(p, STREAMS_STDOUT), "here\n");
		cr_assert_eq(process_signal(p, SIGTERM, true), -ESRCH);
		cr_assert_eq(process_write(p, "x", 1), -ERR_NO_INPUT);
		cr_assert_eq(t.processes.running, 0);
	}
	processes_remove(p, 0, &waiter);
	cr_assert(LOOP_UNTIL(&t.loop, t.done == 1 && processes_idle(&t.processes)));
	cr_assert_eq(count_directories(), 0);
}

Test(process, server_killed_before_the_rename_writes_the_file_again)
{
	struct process *p = start_blocked(
		(struct process_options){.id = "a", .command = "echo x; exit 9"});
	close_table();
	char path[512];
	snprintf(path, sizeof path, "%s/processes", t.folder.path);
	open_table(2);
	t.processes.move_failing = true; /* no second complaint */
	cr_assert_eq(processes_adopt(&t.processes), 1);
	cr_assert(LOOP_UNTIL(&t.loop, !processes_adopting(&t.processes)));
	p = processes_find(&t.processes, "a");
	cr_assert(LOOP_UNTIL(&t.loop, p->tree == PROCESS_TREE_GONE));
	/* A half-written file. */
	unblock(p);
	int fd = directory_of(p);
	int half = openat(fd, OUTPUT_FILE_NEW, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(write(half, "half", 4), 4);
	close(half);
	close(fd);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	cr_assert(!has_file(p, OUTPUT_FILE_NEW));
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
	expect_exit_code(p, 9);
	cr_assert_eq(t.complaints, 1);
}

/* The state after a server that was killed when the file had its name, but before it released the holder. */
static void name_file(struct process *p)
{
	struct output_file *f;
	const struct output_file_facts facts = {.oldest = process_oldest(p),
		.head = p->head,
		.end_offset = p->end_offset,
		.ended_ms = p->ended_ms,
		.wait_status = p->wait_status};
	int fd = directory_of(p);
	cr_assert_eq(output_file_begin(&f, fd, &facts, &p->labels), 0);
	while (output_file_write(f, &p->held.link.ring.bytes) > 0)
		;
	cr_assert_eq(output_file_commit(f, fd), 0);
	output_file_close(f);
	close(fd);
}

Test(process, server_killed_before_it_released_the_holder_does_so_later)
{
	struct process *p = start_blocked(
		(struct process_options){.id = "a", .command = "echo x; exit 9"});
	pid_t holder = p->held.link.info.holder_pid;
	unblock(p);
	name_file(p);
	close_table();
	cr_assert_eq(kill(holder, 0), 0);
	open_table(2);
	cr_assert_eq(processes_adopt(&t.processes), 1);
	p = processes_find(&t.processes, "a");
	cr_assert(p->output == PROCESS_OUTPUT_FILE);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	cr_assert(LOOP_UNTIL(&t.loop, is_gone(holder)));
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
	cr_assert_eq(count_directories(), 1);
}

/* Replace the holder by a process that closes the connection, as if it had been released before. */
static void replace_holder(const struct process *p)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = directory_of(p);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/new", SPAWN_DIR_FD);
	pid_t pid = fork();
	if (pid == 0) {
		struct wire_message asked;
		int listener = fcntl(socket(AF_UNIX, SOCK_SEQPACKET, 0), F_DUPFD, SPAWN_DIR_FD + 1);
		dup2(fd, SPAWN_DIR_FD);
		bool listens = bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
			listen(listener, 1) == 0 &&
			renameat(SPAWN_DIR_FD, "new", SPAWN_DIR_FD, WIRE_SOCKET) == 0;
		/* It exits after the request. */
		_exit(!listens || read(accept(listener, NULL, NULL), &asked, sizeof asked) < 0);
	}
	close(fd);
	cr_assert(LOOP_UNTIL(&t.loop, has_file(p, WIRE_SOCKET)));
}

Test(process, kept_process_whose_holder_exits_while_attaching)
{
	struct process *p = start_blocked((struct process_options){.id = "a", .command = "echo x"});
	pid_t holder = p->held.link.info.holder_pid;
	unblock(p);
	name_file(p);
	kill(holder, SIGKILL);
	cr_assert(LOOP_UNTIL(&t.loop, is_gone(holder)));
	int fd = directory_of(p);
	unlinkat(fd, WIRE_SOCKET, 0);
	close(fd);
	replace_holder(p);
	p = next_server(1);
	cr_assert(p->output == PROCESS_OUTPUT_FILE && p->held.link.state == LINK_ATTACHING);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
}

Test(process, kept_process_whose_holder_hangs_can_be_removed)
{
	struct process *p = start_blocked((struct process_options){.id = "a", .command = "echo x"});
	pid_t holder = p->held.link.info.holder_pid;
	cr_assert_eq(kill(holder, SIGSTOP), 0);
	unblock(p);
	cr_assert(LOOP_UNTIL(&t.loop, p->output == PROCESS_OUTPUT_FILE));
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
	processes_remove(p, 0, NULL);
	cr_assert(LOOP_UNTIL(&t.loop, processes_idle(&t.processes)));
	cr_assert_eq(count_directories(), 0);
	cr_assert(LOOP_UNTIL(&t.loop, is_gone(holder)), "it is continued and exits, or is killed");
}

Test(process, failing_disk_is_reported_once)
{
	struct process *p[2];
	for (unsigned i = 0; i < 2; i++)
		p[i] = start_blocked((struct process_options){
			.id = (char[]){(char)('a' + i), 0}, .command = "echo x"});
	cr_assert(LOOP_UNTIL(&t.loop, t.processes.counters.keep_failures > 2));
	cr_expect_eq(t.complaints, 1);
	for (unsigned i = 0; i < 2; i++)
		unblock(p[i]);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p[0]) && !process_has_holder(p[1])));
	cr_expect_str_eq(output(p[0], STREAMS_STDOUT), "x\n");
}

Test(process, output_survives_a_killed_holder)
{
	/* One holder is killed while the output cannot be moved, another with its command. */
	struct process *p = start_blocked((struct process_options){.id = "a", .command = "echo x"});
	cr_assert_eq(kill(p->held.link.info.holder_pid, SIGKILL), 0);
	cr_assert(LOOP_UNTIL(&t.loop, p->held.holder_lost));
	unblock(p);
	struct process *b = start(
		(struct process_options){.id = "b", .command = "echo y; sleep 1000"});
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(b, STREAMS_STDOUT), "y\n") == 0));
	cr_assert_eq(kill(b->held.link.info.holder_pid, SIGKILL), 0);
	kill(-b->pid, SIGKILL);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p) && !process_has_holder(b)));
	p = next_server(2);
	b = processes_find(&t.processes, "b");
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "x\n");
	cr_assert_str_eq(process_status(p), "completed");
	cr_assert_str_eq(output(b, STREAMS_STDOUT), "y\n");
	cr_assert_str_eq(process_status(b), "error");
}

Test(process, damaged_file_gives_no_output)
{
	struct process *p = start((struct process_options){.id = "a", .command = "echo x"});
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	int fd = directory_of(p);
	int file = openat(fd, OUTPUT_FILE, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(ftruncate(file, 20), 0);
	close(file);
	close(fd);
	cr_assert_eq(process_open_output(p), -EBADMSG);
	next_server(0);
	/* The directory stays until the holder has exited. */
	cr_assert(LOOP_UNTIL(&t.loop, count_directories() == 0));
	cr_assert_geq(t.complaints, 1);
}

/* A reader that reads a little at a time, also after the end. */
struct reader {
	struct process_viewer viewer;
	struct process *process;
	uint64_t cursor;
	size_t length;
	char text[1 << 16];
};

static void read_some(struct reader *r)
{
	struct streams_piece piece;
	struct streams_range range = process_range(r->process, r->process->head, STREAMS_STDOUT);
	if (streams_read(&range, &r->cursor, (uint8_t *)r->text + r->length, 100, &piece))
		r->length += piece.length;
	cr_assert_eq(piece.lost, 0);
}

static void on_more(void *user)
{
	read_some(user);
}

Test(process, reader_during_the_end_gets_all_output)
{
	static struct reader r;
	struct process *p = start((struct process_options){
		.id = "a", .command = "read x; seq 1 5000", .input_pipe = true});
	r = (struct reader){.process = p, .viewer = {.more = on_more, .user = &r}};
	process_attach(p, &r.viewer);
	cr_assert_eq(process_write(p, "\n", 1), 0);
	cr_assert(LOOP_UNTIL(&t.loop, !process_has_holder(p)));
	cr_assert_not_null(p->file);
	size_t length = 0;
	do {
		length = r.length;
		read_some(&r);
	} while (r.length > length);
	process_detach(p, &r.viewer);
	cr_assert_null(p->file);
	r.text[r.length] = '\0';
	cr_assert_eq(r.length, 23893);
	cr_assert_str_eq(r.text, output(p, STREAMS_STDOUT));
}
