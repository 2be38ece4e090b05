#include "shell/proc/foreground.h"
#include "shell/proc/peek.h"

#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* A terminal with a program in the foreground. */
static struct peek peek; /* its process ends with the test's thread */

struct terminal {
	struct foreground_target target;
	char output[65536];
	size_t length;
};

static struct terminal t;
static struct foreground f;

static void run(const char *script)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	ioctl(master, TIOCSWINSZ, &size);
	char *name = ptsname(master);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		int slave = open(name, O_RDWR);
		for (int i = 0; i < 3; i++)
			dup2(slave, i);
		closefrom(3);
		setenv("TERM", "xterm", 1);
		setenv("PS1", "$ ", 1);
		setenv("LC_ALL", "C", 1);
		execlp("bash", "bash", "--norc", "-c", script, NULL);
		_exit(127);
	}
	fcntl(master, F_SETFL, O_NONBLOCK);
	peek.holder = getenv("RINGSIDE_HOLDER");
	t.length = 0;
	t.target = (struct foreground_target){.peek = &peek,
		.holder = getpid(),
		.owner = geteuid(),
		.shell = pid,
		.master_fd = master};
}

/* Kill our children, and their children, which become ours then. */
static void kill_children(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	do {
		int pid;
		FILE *list = fopen(path, "re");
		while (list && fscanf(list, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		if (list)
			fclose(list);
	} while (waitpid(-1, NULL, 0) > 0);
}

/* The shell's jobs have groups of their own, so killing the shell leaves them. */
static void close_terminal(void)
{
	if (!t.target.shell)
		return;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	peek_finish(&peek); /* its process is the child of a thread */
	close(t.target.master_fd);
	kill_children();
	t.target.shell = 0;
}

TestSuite(foreground, .fini = close_terminal, .timeout = 60);

/* Whether the terminal has shown the text. */
static bool has_shown(const char *text)
{
	ssize_t n;
	while (t.length < sizeof t.output - 1 &&
		(n = read(t.target.master_fd, t.output + t.length, sizeof t.output - 1 - t.length)) >
			0)
		t.length += (size_t)n;
	t.output[t.length] = '\0';
	return strstr(t.output, text) != NULL;
}

enum modes { LINE, PASSWORD, RAW };

/* What foreground_look() finds for a program. ready: what the program prints first, or NULL. */
static const struct kind {
	const char *name, *needs, *script, *ready;
	enum blocked waits;
	enum modes modes;
} kinds[] = {
	{"read", NULL, "echo R; read x; :", "R", BLOCKED_READ, LINE},
	{"read -s", NULL, "echo R; read -s x; :", "R", BLOCKED_READ, PASSWORD},
	{"read -n1", NULL, "echo R; read -n1 x; :", "R", BLOCKED_READ, RAW},
	{"read -e", NULL, "read -e -p R: x; :", "R:", BLOCKED_EVENT, RAW},
	{"select of the shell", NULL, "select x in a b; do :; done; :", "#?", BLOCKED_READ, LINE},
	{"cat", NULL, "echo R; exec cat", "R", BLOCKED_READ, LINE},
	{"cat without echo", NULL, "stty -echo; echo R; exec cat", "R", BLOCKED_READ, PASSWORD},
	{"sh", "dash", "exec dash", NULL, BLOCKED_READ, LINE},
	{"nested bash", NULL, "bash --norc -i; :", NULL, BLOCKED_EVENT, RAW},
	{"pipeline", NULL, "echo R; cat | sort; :", "R", BLOCKED_READ, LINE},
	{"pipeline as a job", NULL, "set -m; echo R; cat | sort; :", "R", BLOCKED_READ, LINE},
	{"end of a pipeline", NULL, "set -m; echo R; sleep 1000 | cat /dev/tty; :", "R",
		BLOCKED_READ, LINE},
	{"job whose leader has ended", NULL,
		"set -m; true | { sleep .2; echo R; cat /dev/tty; }; :", "R", BLOCKED_READ, LINE},
	{"the terminal as /dev/tty", NULL, "echo R; exec cat </dev/tty 3</dev/null", "R",
		BLOCKED_READ, LINE},
	{"python, interactive", "python3", "exec python3 -q", ">>>", BLOCKED_EVENT, RAW},
	{"python, input", "python3", "exec python3 -c 'input(\"R:\")'", "R:", BLOCKED_READ, LINE},
	{"python, getpass", "python3", "exec python3 -c 'import getpass; getpass.getpass(\"R:\")'",
		"R:", BLOCKED_READ, PASSWORD},
	{"python, readv", "python3",
		"exec python3 -c 'import os; print(\"R\",flush=True); os.readv(0,[bytearray(9)])'",
		"R", BLOCKED_READ, LINE},
	{"thread", "python3",
		"exec python3 -c 'import threading,time,sys\nprint(\"R\",flush=True)\n"
		"threading.Thread(target=sys.stdin.readline).start()\ntime.sleep(1000)'",
		"R", BLOCKED_READ, LINE},
	{"child of a thread", "python3",
		"exec python3 -c 'import threading,time,subprocess\nprint(\"R\",flush=True)\n"
		"threading.Thread(target=lambda:subprocess.call([\"cat\"])).start()\ntime.sleep(1000)'",
		"R", BLOCKED_READ, LINE},
	{"select", "python3",
		"exec python3 -c 'import select; print(\"R\",flush=True); select.select([0],[],[],1000)'",
		"R", BLOCKED_EVENT, LINE},
	{"select in a loop", "python3",
		"exec python3 -c 'import select; print(\"R\",flush=True)\n"
		"while True: select.select([0],[],[],.05)'",
		"R", BLOCKED_EVENT, LINE},
	{"poll", "python3",
		"exec python3 -c 'import select; print(\"R\",flush=True); p=select.poll();"
		"p.register(0,1); p.poll()'",
		"R", BLOCKED_EVENT, LINE},
	{"epoll", "python3",
		"exec python3 -c 'import select; print(\"R\",flush=True); p=select.epoll();"
		"p.register(0,1); p.poll()'",
		"R", BLOCKED_EVENT, LINE},
	{"event loop", "node", "exec node -e 'process.stdin.resume(); console.log(\"R\")'", "R",
		BLOCKED_EVENT, LINE},
	{"node, interactive", "node", "exec node -i", "> ", BLOCKED_EVENT, RAW},
	{"perl", "perl", "exec perl -e '$|=1; print \"R\"; <STDIN>'", "R", BLOCKED_READ, LINE},
	{"less", "less", "seq 1 1000 | less", ":", BLOCKED_READ, RAW},
	{"vim", "vim", "exec vim -u NONE", "VIM", BLOCKED_EVENT, RAW},
	{"nano", "nano", "exec nano", "GNU nano", BLOCKED_READ, RAW},
	{"top", "top", "exec top -d 100", "load average", BLOCKED_EVENT, RAW},
	{"dialog", "dialog", "exec dialog --msgbox Hello 10 30", "Hello", BLOCKED_READ, RAW},
	{"gdb", "gdb", "exec gdb -q", "(gdb)", BLOCKED_EVENT, RAW},
	{"script", "script", "exec script -q -c 'echo R; sleep 1000' /dev/null", "R", BLOCKED_EVENT,
		RAW},
	{"sleep", NULL, "echo R; exec sleep 1000", "R", BLOCKED_NO, LINE},
	{"loop", NULL, "echo R; while :; do :; done", "R", BLOCKED_NO, LINE},
	{"child", NULL, "echo R; sleep 1000; :", "R", BLOCKED_NO, LINE},
	{"tail -f", NULL, "echo R; exec tail -f /dev/null", "R", BLOCKED_NO, LINE},
	{"cat of a FIFO", NULL,
		"d=$(mktemp -d); mkfifo $d/f; exec 3<>$d/f; rm -r $d; echo R; exec cat <&3", "R",
		BLOCKED_NO, LINE},
	{"reader in the background", NULL, "set -m; cat & echo R; sleep 1000; :", "R", BLOCKED_NO,
		LINE},
	{"server", "python3",
		"exec python3 -c 'import socket; s=socket.socket(); s.listen(); print(\"R\",flush=True);"
		"s.accept()'",
		"R", BLOCKED_NO, LINE},
	{"poll of other descriptors", "python3",
		"exec python3 -c 'import select,os; print(\"R\",flush=True); p=select.poll();"
		"p.register(os.pipe()[0],1); p.register(1,4) if 0 else 0; p.poll()'",
		"R", BLOCKED_NO, LINE},
	{"poll for hanging up", "python3",
		"exec python3 -c 'import select; print(\"R\",flush=True); p=select.poll();"
		"p.register(0,0); p.poll()'",
		"R", BLOCKED_NO, LINE},
	{"epoll of other descriptors", "python3",
		"exec python3 -c 'import select,os; print(\"R\",flush=True); p=select.epoll();"
		"p.register(os.pipe()[0],1); p.poll()'",
		"R", BLOCKED_NO, LINE},
};

static bool is_there(const char *program)
{
	char command[128];
	snprintf(command, sizeof command, "command -v %s >/dev/null", program);
	return !program || system(command) == 0;
}

static bool has_modes(enum modes modes)
{
	return f.modes_known && f.line == (modes != RAW) &&
		(modes == RAW || f.echo == (modes == LINE));
}

static void look(void)
{
	foreground_look(&t.target, &f);
}

static bool is_kind(const struct kind *k)
{
	/* On a busy machine the process that reads memory may respond too late: the result is a guess then. */
	cr_assert(UNTIL((look(), !f.guessed)), "%s", k->name);
	return f.waits == k->waits && has_modes(k->modes) && !f.hidden;
}

static void look_at_kind(const struct kind *k)
{
	run(k->script);
	cr_expect(!k->ready || UNTIL(has_shown(k->ready)), "%s: it shows %s", k->name, t.output);
	cr_expect(UNTIL(is_kind(k)), "%s", k->name);
	/* The state is stable: a program that only works at times is not seen at work in each look. */
	int seen = 0;
	for (int i = 0; i < 5; i++) {
		struct timespec pause = {.tv_nsec = 5000000};
		seen += is_kind(k);
		nanosleep(&pause, NULL);
	}
	cr_expect(seen >= 3, "%s: %d", k->name, seen);
	close_terminal();
}

Test(foreground, programs_that_wait_for_input_and_others, .timeout = 110)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!kinds[i].needs || is_there(kinds[i].needs))
			look_at_kind(&kinds[i]);
}

/* A call that the kernel restarts after a stop has no name of its own. */
Test(foreground, restarted_poll_is_recognised)
{
	run("exec python3 -c 'import select; print(\"R\",flush=True); p=select.poll();"
	    "p.register(0,1); p.poll(1000000)'");
	if (!is_there("python3"))
		cr_skip("there is no python3");
	cr_assert(UNTIL((look(), f.waits == BLOCKED_EVENT)));
	kill(t.target.shell, SIGSTOP);
	cr_assert(UNTIL((look(), f.stopped)));
	kill(t.target.shell, SIGCONT);
	cr_assert(UNTIL((look(), !f.stopped && f.waits == BLOCKED_EVENT)));
}

Test(foreground, has_the_programs_name_and_arguments)
{
	run("exec -a 'a (b) c' sleep 1000");
	static const char argv[] = "a (b) c\0001000";
	/* The program may be executed between two reads of one look. */
	cr_assert(UNTIL((foreground_look(&t.target, &f),
		f.argv_length == sizeof argv && strcmp(f.name, "sleep") == 0)));
	cr_expect_eq(memcmp(f.argv, argv, sizeof argv), 0);
	cr_expect_eq(f.pid, t.target.shell);
	cr_expect_eq(f.group, t.target.shell);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	cr_expect_lt((uint64_t)llabs((long long)f.started_ms - (long long)now.tv_sec * 1000), 30000);
	cr_expect_not(f.truncated || f.stopped || f.guessed);
}

Test(foreground, cpu_time_is_counted)
{
	run("while :; do :; done");
	cr_assert(UNTIL((look(), f.cpu_ms >= 20)));
}

Test(foreground, long_arguments_are_cut)
{
	run("printf -v x '%05000d' 1; exec -a \"$x\" sleep 1000");
	cr_assert(UNTIL((look(), f.argv_length == FOREGROUND_ARGV_MAX)));
	cr_expect_eq(f.argv[FOREGROUND_ARGV_MAX - 1], '\0');
}

static double look_us(void)
{
	double best = 1e9;
	for (int i = 0; i < 50; i++) {
		struct timespec from, to;
		clock_gettime(CLOCK_MONOTONIC, &from);
		look();
		clock_gettime(CLOCK_MONOTONIC, &to);
		double us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
			(double)(to.tv_nsec - from.tv_nsec) / 1e3;
		best = us < best ? us : best;
	}
	return best;
}

static double look_at_many(const char *command, bool truncated)
{
	run(command);
	cr_assert(UNTIL(has_shown("R")));
	look();
	cr_expect_eq(f.truncated, truncated);
	cr_expect_eq(f.waits, BLOCKED_NO);
	double us = look_us();
	close_terminal();
	return us;
}

/* The number of processes does not matter. */
Test(foreground, large_groups_are_checked_in_part, .timeout = 150)
{
	double few = look_at_many("for i in {1..100}; do sleep 1000 & done; echo R; wait", true);
	double many = look_at_many("for i in {1..400}; do sleep 1000 & done; echo R; wait", true);
	fprintf(stderr, "100 processes: %.0f us, 400: %.0f us\n", few, many);
	cr_expect_lt(many, 3 * few); /* those that are checked are as many */
}

Test(foreground, terminal_that_was_closed)
{
	run("exit");
	waitpid(t.target.shell, NULL, 0);
	look();
	cr_expect_eq(f.pid, 0);
	cr_expect_eq(f.waits, BLOCKED_NO);
	close(t.target.master_fd);
	look();
	cr_expect_eq(f.group, 0);
	cr_expect_not(f.modes_known);
	t.target.master_fd = -1;
}

/* A user that may not look into root's program gets `hidden`. */
Test(foreground, programs_of_other_users_are_hidden)
{
	if (getuid() != 0)
		cr_skip("only root can change its user");
	run("stty -echo; echo R; exec cat");
	int status;
	cr_assert(UNTIL(has_shown("R")));
	cr_assert(UNTIL((look(), f.waits == BLOCKED_READ)));
	pid_t other = fork();
	if (other == 0) {
		peek.attempts = (struct attempts){0}; /* threads are not copied by fork */
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		look();
		_exit(f.hidden && f.waits == BLOCKED_NO && f.pid == t.target.shell &&
					f.modes_known && f.line && !f.echo
				? 0
				: 1);
	}
	waitpid(other, &status, 0);
	cr_expect_eq(status, 0, "%x", status);
}

/* The same program, checked by its own user without privileges. */
Test(foreground, needs_no_privileges)
{
	int status;
	pid_t other = fork();
	if (other == 0) {
		peek.attempts = (struct attempts){0};
		if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		/* A process that has changed its user is protected against reading until exec. */
		run("echo R; exec cat");
		bool good = UNTIL((look(), f.waits == BLOCKED_READ)) && !f.hidden && !f.guessed;
		close_terminal();
		_exit(good ? 0 : 1);
	}
	waitpid(other, &status, 0);
	cr_expect_eq(status, 0, "%x", status);
}

Test(foreground, stopped_jobs)
{
	run("set -m; sleep 1000 & kill -STOP $!; sleep 1000 | sleep 1000 & kill -STOP -$!;"
	    "kill -STOP %2; sleep 1000 & echo R; read x");
	cr_assert(UNTIL(has_shown("R")));
	cr_expect(UNTIL(foreground_count_stopped_jobs(t.target.shell) == 2));
	close_terminal();
	run("echo R; read x");
	cr_assert(UNTIL(has_shown("R")));
	cr_expect_eq(foreground_count_stopped_jobs(t.target.shell), 0);
}

Test(blocked_parse, texts)
{
	static const struct {
		const char *text;
		bool good;
		long number;
		uint64_t first, last;
	} cases[] = {
		{"0 0x3 0x7ffd 0x400 0x0 0x0 0xa 0x7ffe 0x7fff\n", true, 0, 3, 10},
		{"281 0xffffffffffffffff 0x0 0x0 0x0 0x0 0xffffffffffffffff 0x0 0x0\n", true, 281,
			UINT64_MAX, UINT64_MAX},
		{"running\n", false, 0, 0, 0},
		{"-1 0x7ffd 0x7ffe\n", false, 0, 0, 0},
		{"0 0x3 0x4", false, 0, 0, 0},
		{"", false, 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct blocked_call c = {0};
		cr_expect_eq(blocked_parse(cases[i].text, &c), cases[i].good, "%s", cases[i].text);
		cr_expect_eq(c.number, cases[i].number);
		cr_expect_eq(c.arguments[0], cases[i].first);
		cr_expect_eq(c.arguments[BLOCKED_ARGUMENTS - 1], cases[i].last);
	}
}

/* A process as in /proc, with one file; its standard input is a terminal. */
static struct blocked_process fake(char *dir, const char *name, const char *text)
{
	char path[128], *terminal;
	struct stat st;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	terminal = ptsname(master);
	cr_assert(mkdtemp(dir) && stat(terminal, &st) == 0);
	snprintf(path, sizeof path, "%s/fd", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/fd/0", dir);
	cr_assert_eq(symlink(terminal, path), 0);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	return (struct blocked_process){.fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.terminal = st.st_rdev,
		.looks = BLOCKED_LOOKS_MAX};
}

static void unfake(const struct blocked_process *p, const char *dir, const char *name)
{
	unlinkat(p->fd, name, 0);
	unlinkat(p->fd, "fd/0", 0);
	unlinkat(p->fd, "fd", AT_REMOVEDIR);
	close(p->fd);
	rmdir(dir);
}

/* Without permission to trace, the process's wait channel is used. */
Test(blocked_check_thread, by_the_wait_channel)
{
	static const struct {
		const char *text;
		enum blocked want;
	} list[] = {{"n_tty_read", BLOCKED_READ}, {"wait_woken", BLOCKED_READ},
		{"do_select", BLOCKED_EVENT}, {"poll_schedule_timeout.constprop.0", BLOCKED_EVENT},
		{"ep_poll", BLOCKED_EVENT}, {"ep_pollution", BLOCKED_UNKNOWN},
		{"hrtimer_nanosleep", BLOCKED_UNKNOWN}, {"0", BLOCKED_UNKNOWN},
		{"", BLOCKED_UNKNOWN}};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		char dir[] = "/tmp/rs-blocked-XXXXXX";
		struct blocked_process p = fake(dir, "wchan", list[i].text);
		cr_expect_eq(blocked_check_thread(&p, ""), list[i].want, "%s", list[i].text);
		cr_expect_eq(p.guessed, list[i].want != BLOCKED_UNKNOWN, "%s", list[i].text);
		p.terminal++;
		cr_expect_eq(blocked_check_thread(&p, ""), BLOCKED_UNKNOWN, "another terminal");
		unfake(&p, dir, "wchan");
	}
}

/* A process can lie: lists that do not exist, and more descriptors than are checked. */
Test(blocked_check_thread, invalid_arguments)
{
	static const struct {
		const char *text;
		enum blocked want;
	} list[] = {{"7 0x0 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_NO},
		{"7 0x10 0x1 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_UNKNOWN},
		{"23 0xffffffffffffffff 0x10 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_UNKNOWN},
		{"0 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_NO},
		{"0 0x7 0x0 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_NO},
		{"232 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_NO},
		{"999999 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0", BLOCKED_NO}, {"running", BLOCKED_NO},
		{"x", BLOCKED_NO}};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		char dir[] = "/tmp/rs-blocked-XXXXXX";
		struct blocked_process p = fake(dir, "syscall", list[i].text);
		cr_expect_eq(blocked_check_thread(&p, ""), list[i].want, "%s", list[i].text);
		unfake(&p, dir, "syscall");
	}
}

static bool sum(void *user, int fd)
{
	*(int *)user += fd;
	return fd == 100;
}

Test(blocked_parse_epoll, texts)
{
	int total = 0;
	static const char text[] = "pos:\t0\nflags:\t02000002\nmnt_id:\t15\n"
				   "tfd:        1 events:       19 data:  1  pos:0 ino:1 sdev:2\n"
				   "tfd:       10 events:        4 data: 10\n"
				   "tfd:     1000 events: 80000001 data: 10\n"
				   "tfd:\ntfd: x\ntfd: 7\ntfd:       -5 events: 1\n"
				   "tfd:      100 events:        1\ntfd:    10000 events: 1\n";
	cr_expect(blocked_parse_epoll(text, sum, &total));
	cr_expect_eq(total, 1101);
	cr_expect_not(blocked_parse_epoll("tfd: 5 events: 1", sum, &total));
	cr_expect_not(blocked_parse_epoll("", sum, &total));
}
