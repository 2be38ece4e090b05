/* Processes in real holders, followed as the server does. */
#include "shell/processes.h"

#include "shell/processes_internal.h"
#include "shell/streams.h"
#include "tests/lib/folder.h"
#include "tests/lib/leak.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WAITERS 64u

struct table {
	struct folder folder;
	uv_loop_t loop;
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
	cr_assert_not_null(config.holder, "RINGSIDE_HOLDER says where the holder is");
	cr_assert_eq(processes_open(&t.processes, &t.loop, &config, &callbacks, &t), 0);
}

static void set_up(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* whatever is left comes to us */
	folder_make(&t.folder);
	cr_assert_eq(uv_loop_init(&t.loop), 0);
	open_table(2);
}

static void close_table(void)
{
	processes_close(&t.processes);
	uv_run(&t.loop, UV_RUN_DEFAULT);
}

static void tear_down(void)
{
	processes_remove_all(&t.processes);
	cr_assert(LOOP_UNTIL(&t.loop, processes_idle(&t.processes)));
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

static const char *output(const struct process *p, unsigned sources)
{
	static char text[1 << 17];
	uint64_t cursor = 0;
	size_t length = 0;
	struct streams_piece piece;
	const struct streams_range range = {.bytes = &p->link.ring.bytes,
		.labels = &p->labels,
		.end = p->head,
		.sources = sources};
	while (streams_read(
		&range, &cursor, (uint8_t *)text + length, sizeof text - 1 - length, &piece))
		length += piece.length;
	text[length] = '\0';
	return text;
}

/* Run it to its end and compare what it has written, and how it ended. */
static void assert_runs(struct process_options o, const char *out, const char *err, int want)
{
	int code = -1;
	struct process *p = start(o);
	cr_assert(LOOP_UNTIL(&t.loop, p->gone));
	cr_assert(process_exit_code(p, &code));
	cr_assert_str_eq(output(p, STREAMS_STDERR), err);
	cr_assert_str_eq(output(p, STREAMS_STDOUT), out);
	cr_assert_eq(code, want, "it ended with %d", code);
}

static unsigned directories(void)
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
	cr_assert_eq(process_members(p), 0);
	cr_assert_eq(process_signal(p, SIGTERM, true), -ESRCH);
	cr_assert_eq(process_write(p, "x", 1), -ENODEV);
}

Test(process, refusals)
{
	struct process_options o = {.id = "a", .command = "true"};
	static const char nul[] = "a\0b";
	o.id = "../x";
	cr_assert_eq(try(&o), -EINVAL);
	o.id = "kill-all";
	cr_assert_eq(try(&o), -EINVAL);
	o.id = "a";
	o.command = nul;
	o.command_length = 3;
	cr_assert_eq(try(&o), -EINVAL);
	o.command = "\xff";
	o.command_length = 1;
	cr_assert_eq(try(&o), -EILSEQ);
	o.command = "true";
	o.command_length = PROCESS_COMMAND_MAX + 1;
	cr_assert_eq(try(&o), -E2BIG);
	o.command_length = 4;
	o.cwd = "/no/such/directory";
	cr_assert_eq(try(&o), -ENOENT);
	o.cwd = "/dev/null";
	cr_assert_eq(try(&o), -ENOTDIR);
	o.cwd = "relative";
	cr_assert_eq(try(&o), -EINVAL);
	cr_assert_eq(directories(), 0);
	start((struct process_options){.id = "a", .command = "sleep 1000"});
	o.cwd = NULL;
	cr_assert_eq(try(&o), -EEXIST);
	for (const char *id = "bcd"; *id; id++)
		start((struct process_options){.id = (char[]){*id, 0}, .command = "sleep 1000"});
	o.id = "e";
	cr_assert_eq(try(&o), -EUSERS);
}

Test(process, preamble_restores_and_leaves_no_trace)
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
	cr_assert(LOOP_UNTIL(&t.loop, p->gone));
	int code;
	cr_assert(process_exit_code(p, &code) && code == 4);
	cr_assert_str_eq(output(p, STREAMS_STDOUT),
		"hello world\nf bash unset\nsession|re'quest\n$x|new|1|gone|huBc\n");
	/* The variables of the request come after the trace was turned on: they, and no more, show. */
	cr_assert_null(strstr(output(p, STREAMS_STDERR), "preamble"));
	cr_assert_null(strstr(output(p, STREAMS_STDERR), "eval"));
}

Test(process, errexit_of_a_preamble_counts_for_the_command_only)
{
	static const char preamble[] = "set -e\n";
	assert_runs((struct process_options){.id = "a",
			    .command = "echo one; false; echo two",
			    .preamble = preamble,
			    .preamble_length = sizeof preamble - 1},
		"one\n", "", 1);
}

Test(process, next_table_adopts)
{
	struct process *p = start((struct process_options){
		.id = "a", .command = "read x; echo \"got $x\"; read x; exit 6", .input_pipe = true});
	start((struct process_options){.id = "b", .command = "exit 2"});
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	pid_t pid = p->pid;
	close_table();
	open_table(2);
	cr_assert_eq(processes_adopt(&t.processes), 2);
	cr_assert(LOOP_UNTIL(&t.loop, !processes_adopting(&t.processes)));
	p = processes_find(&t.processes, "a");
	cr_assert_eq(p->pid, pid);
	cr_assert_str_eq(process_status(p), "running");
	cr_assert_str_eq(process_status(processes_find(&t.processes, "b")), "failed");
	cr_assert_eq(t.processes.running, 1);
	cr_assert_eq(process_write(p, "word\n", 5), 0);
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(p, STREAMS_STDOUT), "got word\n") == 0));
	cr_assert_eq(process_end_input(p), 0);
	cr_assert_eq(process_write(p, "x", 1), -EPIPE);
	cr_assert(LOOP_UNTIL(&t.loop, p->gone));
	int code;
	cr_assert(process_exit_code(p, &code) && code == 6);
	cr_assert_eq(t.complaints, 0);
}

Test(process, kill_tells_when_all_are_gone)
{
	struct process_waiter waiter = {.done = on_done, .user = &t};
	struct process *p = start((struct process_options){.id = "a",
		.command =
			"trap '' TERM; (trap '' TERM; sleep 1000) & setsid sleep 1000 & echo up; sleep 1000; sleep 1000"});
	cr_assert(LOOP_UNTIL(&t.loop, strcmp(output(p, STREAMS_STDOUT), "up\n") == 0));
	cr_assert(LOOP_UNTIL(&t.loop, process_members(p) >= 4));
	process_kill(p, 50, &waiter);
	cr_assert(LOOP_UNTIL(&t.loop, t.done == 1));
	cr_assert_eq(t.error, 0);
	cr_assert(p->gone);
	cr_assert_eq(process_members(p), 0);
	cr_assert_str_eq(process_status(p), "killed");
	cr_assert_str_eq(output(p, STREAMS_STDOUT), "up\n");
	waiter = (struct process_waiter){.done = on_done, .user = &t};
	process_kill(p, 50, &waiter);
	cr_assert_eq(t.done, 2, "there is nobody to be waited for");
}

Test(process, old_ones_are_forgotten_beyond_the_number)
{
	static const char *const ids[] = {"a", "b", "c", "d"};
	for (unsigned i = 0; i < 4; i++) {
		start((struct process_options){.id = ids[i], .command = "true"});
		cr_assert(LOOP_UNTIL(&t.loop, processes_find(&t.processes, ids[i])->gone));
	}
	cr_assert_eq(HASH_COUNT(t.processes.table), 4, "fresh ones are kept beyond it");
	for (unsigned i = 0; i < 4; i++)
		processes_find(&t.processes, ids[i])->ended_ms -= PROCESSES_FRESH_MS + 1000 - i;
	cr_assert(LOOP_UNTIL(&t.loop, HASH_COUNT(t.processes.table) == 2));
	cr_assert_null(processes_find(&t.processes, "a"));
	cr_assert_null(processes_find(&t.processes, "b"));
	cr_assert(LOOP_UNTIL(&t.loop, directories() == 2));
	processes_find(&t.processes, "d")->ended_ms -= 3600 * 1000;
	cr_assert(LOOP_UNTIL(&t.loop, HASH_COUNT(t.processes.table) == 1));
}

Test(process, meta_is_read_back_or_refused)
{
	static const char *const broken[] = {"", "{}", "[1]", "{\"id\":\"../x\"}"};
	struct process *p = start((struct process_options){
		.id = "a", .command = "kill -9 $$", .session = "s", .timeout_ms = 5000});
	cr_assert(LOOP_UNTIL(&t.loop, p->gone));
	struct process other = {0};
	cr_assert_eq(process_meta_load(p->link.dir_fd, &other), 0);
	cr_assert_str_eq(other.id, "a");
	cr_assert_str_eq(other.session, "s");
	cr_assert_str_eq(other.command, "kill -9 $$");
	cr_assert_str_eq(other.cwd, "/");
	cr_assert_eq(other.timeout_ms, 5000);
	cr_assert_eq(other.pid, p->pid);
	cr_assert_eq(other.wait_status, p->wait_status);
	cr_assert_eq(other.ended_ms, p->ended_ms);
	cr_assert_eq(other.end_offset, p->end_offset);
	free(other.command);
	free(other.cwd);
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct process none = {0};
		folder_put(&t.folder, "process.json", broken[i]);
		cr_assert_eq(process_meta_load(t.folder.fd, &none), -EBADMSG, "%s", broken[i]);
		cr_assert_null(none.command);
	}
	ASSERT_NO_LEAKS();
}
