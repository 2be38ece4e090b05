/* See pty/runner.h. A poll loop on the socket and SIGCHLD. */
#include "pty/runner.h"

#include "pty/holder/holder.h"
#include "pty/holder/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_MS 10 /* between two rounds of SIGKILL; doubles up to PAUSE_MAX_MS */
#define PAUSE_MAX_MS 160
/* Empty scans needed: a scan may miss a process that forks and exits all the time. */
#define EMPTY_SCANS 3

struct runner {
	struct enter_limits limits;
	const char *cwd;     /* NULL: keep the current one */
	const char *program; /* path; NULL: search argv[0] in PATH */
	long nofile;
	bool show;
	bool group_only;    /* kill only the command's process group */
	bool is_bubblewrap; /* the command is bubblewrap */
	char **argv;
	int signal_fd;
	pid_t command;   /* 0: it has ended */
	pid_t group;     /* its process group, also after its end */
	int empty_scans; /* in a row that found no member of the group */
	bool killing;
	bool done; /* no process is left */
	int pause_ms;
};

static void send_message(enum runner_type type, int value)
{
	const struct runner_message m = {(uint32_t)type, value};
	ssize_t n;
	do
		n = send(RUNNER_SOCKET_FD, &m, sizeof m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
}

static bool parse_options(int argc, char **argv, struct runner *r)
{
	static const struct option names[] = {
		{"nofile", required_argument, NULL, 'n'},
		{"group", required_argument, NULL, 'g'},
		{"tasks", required_argument, NULL, 't'},
		{"memory", required_argument, NULL, 'm'},
		{"cwd", required_argument, NULL, 'w'},
		{"show", no_argument, NULL, 's'},
		{"program", required_argument, NULL, 'p'},
		{"spare", no_argument, NULL, 'x'},
		{"watched", no_argument, NULL, 'b'},
		{0},
	};
	int c;
	*r = (struct runner){.limits = {.group_fd = -1}, .pause_ms = PAUSE_MS};
	while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		if (c == 'n')
			r->nofile = strtol(optarg, NULL, 10);
		else if (c == 'g')
			r->limits.group_fd = (int)strtol(optarg, NULL, 10);
		else if (c == 't')
			r->limits.tasks = strtoull(optarg, NULL, 10);
		else if (c == 'm')
			r->limits.memory = strtoull(optarg, NULL, 10);
		else if (c == 'w')
			r->cwd = optarg;
		else if (c == 's')
			r->show = true;
		else if (c == 'p')
			r->program = optarg;
		else if (c == 'x')
			r->group_only = true;
		else if (c == 'b')
			r->is_bubblewrap = true;
		else
			return false;
	}
	r->argv = argv + optind;
	return r->argv[0] != NULL;
}

/* In the child: execute the command. */
static _Noreturn void run(const struct runner *r, int report_fd)
{
	int rc;
	shell_reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the runner its output is lost */
	setsid();
	shell_limit_descriptors(r->nofile);
	rc = enter_limits(&r->limits);
	if (rc == 0 && r->limits.group_fd >= 0)
		close(r->limits.group_fd);
	if (rc == 0 && r->cwd && chdir(r->cwd) < 0)
		rc = -errno;
	if (rc == 0) {
		if (r->show)
			enter_unhide_environment();
		if (r->program)
			execv(r->program, r->argv);
		else
			execvp(r->argv[0], r->argv);
		rc = -errno;
	}
	(void)!write(report_fd, &rc, sizeof rc);
	_exit(127);
}

/* Start the command, then close our copies of its streams, so that they end with it. */
static int start(struct runner *r)
{
	int fds[2], rc = 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	/* Above the command's fixed descriptors. */
	int from = fcntl(fds[0], F_DUPFD_CLOEXEC, HOLDER_FIRST_FREE_FD);
	int report = fcntl(fds[1], F_DUPFD_CLOEXEC, HOLDER_FIRST_FREE_FD);
	close(fds[0]);
	close(fds[1]);
	r->command = from >= 0 && report >= 0 ? fork() : -1;
	if (r->command == 0)
		run(r, report);
	if (r->command < 0)
		rc = -errno;
	r->group = r->command;
	close(report);
	close_range(0, RUNNER_SOCKET_FD - 1, 0);
	close_range(RUNNER_SOCKET_FD + 1, HOLDER_FIRST_FREE_FD - 1, 0);
	if (rc == 0 && read(from, &rc, sizeof rc) <= 0)
		rc = 0;
	close(from);
	return rc;
}

static int open_signals(struct runner *r)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

static void reap(struct runner *r)
{
	struct signalfd_siginfo ignored;
	int status;
	pid_t pid;
	while (read(r->signal_fd, &ignored, sizeof ignored) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == r->command) {
			r->command = 0;
			send_message(RUNNER_ENDED, status);
		}
	r->done = pid < 0 && errno == ECHILD;
}

/*
 * Signal the command's group. tree_signal_group() may miss a member that forks meanwhile. kill(2)
 * of the group misses none, but the group's id may be reused after all members have ended, so it is
 * called only if one is alive.
 */
static int signal_group(const struct runner *r, int signo)
{
	pid_t spared = r->is_bubblewrap && signo != SIGKILL ? r->command : 0;
	int members = tree_signal_group(r->group, signo == SIGKILL ? 0 : signo, spared);
	if (signo == SIGKILL && (r->command > 0 || members > 0))
		kill(-r->group, SIGKILL);
	return members;
}

/*
 * Stop all processes, send SIGTERM, continue them. Otherwise, if a shell's child dies first,
 * the shell would start the next command of its script before its own signal arrives.
 */
static void terminate(const struct runner *r)
{
	static const int steps[] = {SIGSTOP, SIGTERM, SIGCONT};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		(void)tree_signal_group(
			r->group_only ? r->group : 0, steps[i], r->is_bubblewrap ? r->command : 0);
}

static bool is_group_empty(struct runner *r, int members)
{
	r->empty_scans = members == 0 && r->command == 0 ? r->empty_scans + 1 : 0;
	return r->empty_scans >= EMPTY_SCANS;
}

static void kill_step(struct runner *r)
{
	int left;
	if (r->group_only) {
		left = signal_group(r, SIGKILL);
		r->done = r->done || is_group_empty(r, left);
	} else {
		tree_kill();
		left = tree_signal(0);
	}
	if (!r->done)
		send_message(RUNNER_SURVIVORS, left > 0 ? left : 1); /* 0 is the last message */
	if (r->pause_ms < PAUSE_MAX_MS)
		r->pause_ms *= 2;
}

/* Receive and handle a message. Returns false when the server has closed the socket. */
static bool handle_message(struct runner *r)
{
	struct runner_message m;
	ssize_t n = recv(RUNNER_SOCKET_FD, &m, sizeof m, 0);
	if (n < 0 && errno == EINTR)
		return true;
	if (n == sizeof m && m.type == RUNNER_RELEASE)
		_exit(0);
	if (n == sizeof m && m.type == RUNNER_TERMINATE) {
		terminate(r);
		return true;
	}
	r->killing = true; /* RUNNER_KILL, or the server is gone */
	r->pause_ms = PAUSE_MS;
	kill_step(r);
	return n > 0;
}

static _Noreturn void watch(struct runner *r)
{
	enum { SOCKET, SIGNALS, POLLS };
	bool open = true;
	for (;;) {
		struct pollfd p[POLLS] = {
			[SOCKET] = {.fd = open ? RUNNER_SOCKET_FD : -1, .events = POLLIN},
			[SIGNALS] = {.fd = r->signal_fd, .events = POLLIN}};
		int n = poll(p, POLLS, r->killing ? r->pause_ms : -1);
		if (n < 0)
			continue;
		if (p[SIGNALS].revents)
			reap(r);
		if (!r->done && p[SOCKET].revents)
			open = handle_message(r);
		else if (!r->done && r->killing)
			kill_step(r);
		if (r->done) {
			send_message(RUNNER_SURVIVORS, 0);
			_exit(0);
		}
	}
}

void runner_run(int argc, char **argv)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
	static struct runner r;
	if (!parse_options(argc, argv, &r))
		_exit(ENTER_EXIT);
	fcntl(RUNNER_SOCKET_FD, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_NAME, "ringside-run");
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	int rc = prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : start(&r);
	if (rc == 0)
		rc = open_signals(&r);
	if (rc < 0) {
		send_message(RUNNER_FAILED, rc);
		_exit(ENTER_EXIT);
	}
	(void)!chdir("/");
	send_message(RUNNER_STARTED, (int)r.command);
	reap(&r); /* it may have ended before SIGCHLD was blocked */
	if (r.done) {
		send_message(RUNNER_SURVIVORS, 0);
		_exit(0);
	}
	watch(&r);
}
