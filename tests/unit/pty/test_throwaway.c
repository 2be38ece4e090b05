#include "pty/throwaway.h"

#include "pty/enter.h"
#include "pty/runner.h"
#include "tests/lib/open_fds.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_SIZE ((size_t)4 << 20)

static const char *const environment[] = {
	ENTER_HIDDEN_PREFIX "PATH=/usr/bin:/bin", ENTER_HIDDEN_PREFIX "FROM_TEST=1", NULL};

static struct throwaway_options options(const char *command, bool terminals)
{
	return (struct throwaway_options){
		.holder = getenv("RINGSIDE_HOLDER"),
		.bash = "/bin/bash",
		.command = command,
		.command_length = strlen(command),
		.cwd = "/",
		.envp = (char *const *)(uintptr_t)environment,
		.terminals = terminals,
		.rows = 33,
		.cols = 77,
	};
}

static struct {
	int status;
	char *text[2]; /* NUL-terminated */
	size_t length[2];
} got; /* the result of the last command */

static void outcome_free(void)
{
	free(got.text[0]);
	free(got.text[1]);
	memset(&got, 0, sizeof got);
}

/* Read all available bytes. */
static void read_available(int fd, char *text, size_t *length)
{
	ssize_t n;
	while ((n = read(fd, text + *length, OUTPUT_SIZE - 1 - *length)) > 0)
		*length += (size_t)n;
	text[*length] = '\0';
}

/* Whether the runner has reported that the command has ended; got.status gets its status. */
static bool has_ended(const struct throwaway *t)
{
	struct runner_message m;
	while (recv(t->socket_fd, &m, sizeof m, MSG_DONTWAIT) == sizeof m) {
		if (m.type != RUNNER_ENDED)
			continue;
		got.status = m.value;
		return true;
	}
	return false;
}

/* Read until the command has ended, then the rest, and let the runner kill the leftovers and exit. */
static void wait_for(struct throwaway *t)
{
	const struct runner_message release = {.type = RUNNER_RELEASE};
	struct pollfd p[] = {{t->out, POLLIN, 0}, {t->err, POLLIN, 0}, {t->socket_fd, POLLIN, 0}};
	outcome_free();
	for (int i = 0; i < 2; i++)
		got.text[i] = calloc(1, OUTPUT_SIZE);
	while (!has_ended(t)) {
		cr_assert_gt(poll(p, 3, 20000), 0, "the command does not end");
		for (int i = 0; i < 2; i++) {
			read_available(i == 0 ? t->out : t->err, got.text[i], &got.length[i]);
			if (p[i].revents & POLLHUP)
				p[i].fd = -1;
		}
	}
	read_available(t->out, got.text[0], &got.length[0]);
	read_available(t->err, got.text[1], &got.length[1]);
	(void)send(t->socket_fd, &release, sizeof release,
		MSG_NOSIGNAL); /* the runner may have exited */
	cr_assert_eq(waitpid(t->runner, NULL, 0), t->runner);
	close(t->out);
	close(t->err);
	close(t->pidfd);
	close(t->socket_fd);
}

static void run(const struct throwaway_options *o)
{
	struct throwaway t;
	int rc = throwaway_start(o, &t);
	cr_assert_eq(rc, 0, "%s", strerror(-rc));
	wait_for(&t);
}

static void expect(const char *command, bool terminals, int code, const char *out, const char *err)
{
	struct throwaway_options o = options(command, terminals);
	run(&o);
	cr_expect(WIFEXITED(got.status) && WEXITSTATUS(got.status) == code, "%s: status %x",
		command, (unsigned)got.status);
	cr_expect_str_eq(got.text[0], out, "%s: stdout %s", command, got.text[0]);
	cr_expect_str_eq(got.text[1], err, "%s: stderr %s", command, got.text[1]);
}

static void expect_both(const char *command, int code, const char *out, const char *err)
{
	expect(command, false, code, out, err);
	expect(command, true, code, out, err);
}

TestSuite(throwaway, .fini = outcome_free, .timeout = 60);

Test(throwaway, streams_are_separate_and_bytes_exact)
{
	expect_both("echo out; echo err >&2; exit 7", 7, "out\n", "err\n");
	expect_both("printf 'a\\tb\\r\\nc'; printf 'x\\r\\ny\\n' >&2", 0, "a\tb\r\nc", "x\r\ny\n");
}

Test(throwaway, streams_are_terminals_if_requested)
{
	expect("test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?", true, 0, "1\n0\n0\n",
		"");
	expect("test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?", false, 0, "1\n1\n1\n",
		"");
	expect("stty size <&1; stty size <&2", true, 0, "33 77\n33 77\n", "");
}

Test(throwaway, reading_a_terminal_fails_at_once)
{
	expect("read -r x <&1; echo $? $x; (exec </dev/tty) 2>/dev/null; echo $?", true, 0,
		"1\n1\n", "");
}

Test(throwaway, standard_input_is_delivered_whole)
{
	struct throwaway_options o = options("cat; echo -n end; cat", true);
	o.input = "a\0b\n\377";
	o.input_length = 5;
	run(&o);
	cr_assert_eq(got.length[0], 8);
	cr_assert_eq(memcmp(got.text[0], "a\0b\n\377end", 8), 0);
	o.input_length = 0;
	run(&o);
	cr_assert_str_eq(got.text[0], "end");
	expect_both("cat; readlink /proc/self/fd/0", 0, "/dev/null\n", "");
}

Test(throwaway, no_other_descriptor_or_variable_is_inherited)
{
	int low = fcntl(1, F_DUPFD, 5), high = fcntl(1, F_DUPFD, 100);
	/* The fourth is that of ls for the directory. */
	expect_both("ls -1 /proc/self/fd; env | grep -E '^(FROM_TEST|PATH|HOME)' | sort; pwd", 0,
		"0\n1\n2\n3\nFROM_TEST=1\nPATH=/usr/bin:/bin\n/\n", "");
	close(low);
	close(high);
}

Test(throwaway, has_its_own_session_and_default_signals)
{
	struct throwaway t;
	struct throwaway_options o = options(
		"echo $$; ps -o pid=,pgid=,sid=,tty= -p $$; grep -E 'SigBlk|SigIgn' "
		"/proc/self/status; yes | head -1; echo ${PIPESTATUS[*]}",
		true);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	cr_assert_eq(throwaway_start(&o, &t), 0);
	wait_for(&t);
	int pid, ids[3];
	char tty[32], answer[8];
	unsigned long long blocked, ignored;
	int codes[2];
	cr_assert_eq(sscanf(got.text[0], "%d %d %d %d %31s SigBlk: %llx SigIgn: %llx %7s %d %d",
			     &pid, &ids[0], &ids[1], &ids[2], tty, &blocked, &ignored, answer,
			     &codes[0], &codes[1]),
		10, "%s", got.text[0]);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(ids[i], t.pid);
	cr_expect_eq(pid, t.pid);
	cr_expect_str_eq(tty, "?", "no controlling terminal");
	cr_expect_eq(blocked, 0);
	/* glibc's posix_spawn leaves its own two real-time signals ignored. */
	cr_expect_eq(ignored & ~UINT64_C(0x180000000), 0);
	cr_expect_eq(codes[0], 128 + SIGPIPE);
	cr_expect_eq(codes[1], 0);
}

Test(throwaway, command_has_the_limit_of_descriptors)
{
	struct rlimit limit, after;
	struct throwaway_options o = options("ulimit -Sn; ulimit -Hn", false);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	o.nofile = 123;
	run(&o);
	char want[64];
	snprintf(want, sizeof want, "123\n%llu\n", (unsigned long long)limit.rlim_max);
	if (limit.rlim_max != RLIM_INFINITY)
		cr_expect_str_eq(got.text[0], want);
	getrlimit(RLIMIT_NOFILE, &after);
	cr_expect_eq(after.rlim_cur, limit.rlim_cur);
	/* The parent has more descriptors open than the command may. */
	int held[200];
	for (int i = 0; i < 200; i++)
		held[i] = fcntl(1, F_DUPFD_CLOEXEC, 3);
	run(&o);
	cr_expect_eq(strncmp(got.text[0], "123\n", 4), 0, "%s", got.text[0]);
	o.terminals = true;
	run(&o);
	cr_expect_eq(strncmp(got.text[0], "123\n", 4), 0, "%s", got.text[0]);
	for (int i = 0; i < 200; i++)
		close(held[i]);
}

/* A command of the given length: comment padding before tail, on the same line or on one before it. */
static char *long_command(size_t length, const char *head, const char *tail)
{
	char *text = malloc(length + 1);
	memset(text, 'x', length);
	memcpy(text, head, strlen(head));
	memcpy(text + length - strlen(tail), tail, strlen(tail));
	text[length] = '\0';
	return text;
}

Test(throwaway, long_commands_work_as_short_ones)
{
	static const char tail[] =
		"\necho $0 $LINENO $#; ls -1 /proc/self/fd | wc -l; (exit 3); echo $?\n"
		"cat <<E\nheredoc\nE\nexec bash -c 'exit 9'";
	static const size_t lengths[] = {131000, 131070, 131071, 131072, 131073, 1 << 20};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		char *command = long_command(lengths[i], "#", tail);
		expect(command, i % 2, 9, "bash 2 0\n4\n3\nheredoc\n", "");
		free(command);
	}
	char *open_quote = long_command(200000, "echo '", "y");
	struct throwaway_options o = options(open_quote, false);
	run(&o);
	cr_expect_eq(WEXITSTATUS(got.status), 2, "%x", (unsigned)got.status);
	cr_expect_not_null(strstr(got.text[1], "unexpected EOF"));
	free(open_quote);
}

Test(throwaway, missing_directory_or_bash_is_an_error)
{
	struct throwaway t;
	unsigned before = open_fds();
	struct throwaway_options o = options("echo never", true);
	o.cwd = "/nonexistent";
	cr_expect_eq(throwaway_start(&o, &t), -ENOENT);
	o.cwd = "/etc/passwd";
	cr_expect_eq(throwaway_start(&o, &t), -ENOTDIR);
	o.cwd = "/";
	o.bash = "/nonexistent";
	cr_expect_eq(throwaway_start(&o, &t), -ENOENT);
	cr_expect_eq(open_fds(), before);
}

Test(throwaway, each_shortage_of_descriptors_is_an_error)
{
	struct throwaway t;
	struct rlimit limit;
	struct throwaway_options o = options("echo never", true);
	char *command = long_command(140000, "echo ", "y");
	o.command = command;
	o.command_length = 140000;
	o.input = "x";
	o.input_length = 1;
	getrlimit(RLIMIT_NOFILE, &limit);
	rlim_t before = limit.rlim_cur;
	unsigned open_before = open_fds();
	/* Each iteration fails one step later. */
	for (rlim_t most = 16; most < 24; most++) {
		limit.rlim_cur = most;
		setrlimit(RLIMIT_NOFILE, &limit);
		int rc = throwaway_start(&o, &t);
		limit.rlim_cur = before;
		setrlimit(RLIMIT_NOFILE, &limit);
		if (rc == 0)
			wait_for(&t);
		else
			cr_expect(rc == -EMFILE || rc == -EINVAL, "%d", rc);
		cr_expect_eq(open_fds(), open_before, "after %d", (int)most);
		cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
	}
	free(command);
}

Test(throwaway, last_bytes_are_readable_when_the_command_has_ended)
{
	for (int i = 0; i < 60; i++) {
		struct throwaway_options o = options(
			"head -c 3000 /dev/zero >&2; head -c 5000 /dev/zero", i % 2);
		run(&o);
		cr_assert_eq(got.length[0], 5000, "%zu", got.length[0]);
		cr_assert_eq(got.length[1], 3000, "%zu", got.length[1]);
	}
}

/* Read two pids that the command prints. */
static void read_pids(int fd, pid_t ret_pids[2])
{
	char text[64] = "";
	size_t length = 0;
	struct pollfd p = {fd, POLLIN, 0};
	while (sscanf(text, "%d %d\n", &ret_pids[0], &ret_pids[1]) < 2 || !strchr(text, '\n')) {
		cr_assert_gt(poll(&p, 1, 20000), 0, "the command prints nothing");
		ssize_t n = read(fd, text + length, sizeof text - 1 - length);
		cr_assert(n > 0 || (n < 0 && errno == EAGAIN));
		length += n > 0 ? (size_t)n : 0;
		text[length] = '\0';
	}
}

/* Wait for the runner's last message: no survivors. */
static void wait_until_alone(const struct throwaway *t)
{
	struct pollfd p = {t->socket_fd, POLLIN, 0};
	struct runner_message m = {0};
	while (m.type != RUNNER_SURVIVORS || m.value != 0) {
		cr_assert_gt(poll(&p, 1, 20000), 0, "the command does not end");
		cr_assert_eq(recv(t->socket_fd, &m, sizeof m, 0), sizeof m);
	}
}

static bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0;
}

/* One process stays in the command's group and one leaves it. */
Test(throwaway, spares_only_processes_that_have_left_the_group)
{
	const struct runner_message end = {.type = RUNNER_KILL}, term = {.type = RUNNER_TERMINATE};
	for (int ends = 0; ends < 2; ends++) {
		struct throwaway t;
		pid_t pids[2];
		struct throwaway_options o = options(
			ends ? "trap '' TERM; sleep 1000 & a=$!; setsid sleep 1000 & echo $a $!"
			     : "trap '' TERM; sleep 1000 & a=$!; setsid sleep 1000 & echo $a $!; wait",
			false);
		o.spares = true;
		cr_assert_eq(throwaway_start(&o, &t), 0);
		read_pids(t.out, pids);
		cr_assert(UNTIL(getpgid(pids[1]) == pids[1]));
		(void)send(t.socket_fd, &term, sizeof term, MSG_NOSIGNAL);
		(void)send(t.socket_fd, &end, sizeof end, MSG_NOSIGNAL);
		wait_until_alone(&t);
		cr_assert_eq(waitpid(t.runner, NULL, 0), t.runner);
		cr_expect_not(is_alive(pids[0]), "%d: in the group", ends);
		cr_expect(is_alive(pids[1]), "%d: outside of the group", ends);
		kill(pids[1], SIGKILL);
		close(t.out);
		close(t.err);
		close(t.pidfd);
		close(t.socket_fd);
	}
}
