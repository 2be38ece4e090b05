/* See starter.h. A poll loop on the socket and SIGCHLD. */
#include "pty/starter.h"

#include "pty/holder/holder.h"
#include "pty/holder/shell.h"
#include "pty/fdpass.h"
#include "pty/proc/proc.h"
#include "pty/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct starter {
	const char *directory;         /* path in the sandbox */
	const char *cwd;               /* where the first shell starts */
	char last_cwd[HOLDER_CWD_MAX]; /* where the next shell starts; "": not known */
	char **argv;                   /* the shell and its arguments */
	bool respawn;                  /* start a new shell when one ends */
	int slave;                     /* of the terminal */
	int signal_fd;                 /* SIGCHLD */
	pid_t shell;                   /* 0: none */
	bool started;                  /* a shell has been started */
};

static void send_message(enum starter_type type, int value, int error)
{
	const struct starter_message m = {(uint32_t)type, value, error};
	ssize_t n;
	do
		n = send(STARTER_SOCKET_FD, &m, sizeof m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
}

static bool parse_options(int argc, char **argv, struct starter *s)
{
	static const struct option names[] = {
		{"directory", required_argument, NULL, 'd'},
		{"cwd", required_argument, NULL, 'w'},
		{"respawn", no_argument, NULL, 'a'},
		{0},
	};
	int c;
	*s = (struct starter){0};
	while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		if (c == 'd')
			s->directory = optarg;
		else if (c == 'w')
			s->cwd = optarg;
		else if (c == 'a')
			s->respawn = true;
		else
			return false;
	}
	s->argv = argv + optind;
	return s->directory && s->cwd && s->argv[0];
}

/*
 * Open the directory by its path in the sandbox: through a descriptor of the holder, shells could
 * reach directories outside of the sandbox ("..").
 */
static int open_directory(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ||
			(fd != SUPERVISE_DIRECTORY_FD &&
				dup3(fd, SUPERVISE_DIRECTORY_FD, O_CLOEXEC) < 0)
		? -errno
		: 0;
	if (fd >= 0 && fd != SUPERVISE_DIRECTORY_FD)
		close(fd);
	return rc;
}

static int set_up(struct starter *s)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
	sigset_t set;
	/* Descriptors that our parents have leaked. */
	close_range(WIRE_FIXED_FD_STDERR + 1, HOLDER_FIRST_FREE_FD - 1, 0);
	s->slave = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, HOLDER_FIRST_FREE_FD);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (s->slave < 0 || null < 0)
		return -errno;
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	for (int fd = STARTER_SOCKET_FD; fd <= WIRE_FIXED_FD_STDERR; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	s->signal_fd = holder_move_fd_high(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	if (s->signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	int rc = open_directory(s->directory);
	return rc == 0 && chdir("/") < 0 ? -errno : rc;
}

static void start(struct starter *s)
{
	const struct shell_options o = {.argv = s->argv,
		.cwd = s->last_cwd,
		.fallback = s->cwd,
		.announce_fd = STARTER_SOCKET_FD};
	enum report_stage stage = REPORT_SETUP;
	int rc = s->shell > 0 ? -EBUSY : shell_start(&o, s->slave, &s->shell, &stage);
	if (rc < 0) {
		send_message(STARTER_FAILED, (int)stage, rc);
		return;
	}
	s->started = true;
	send_message(STARTER_STARTED, 0, 0);
}

static void note_cwd(struct starter *s)
{
	char cwd[HOLDER_CWD_MAX];
	size_t length = proc_read_link(s->shell, "cwd", cwd, sizeof cwd);
	if (length > 0) /* else the shell has ended: keep the last value */
		memcpy(s->last_cwd, cwd, length + 1);
}

/* Takes fd (-1: none). */
static void put_stderr_pty(int fd)
{
	if (fd < 0) {
		close(WIRE_FIXED_FD_STDERR_PTY);
	} else if (fd != WIRE_FIXED_FD_STDERR_PTY) { /* it may have got this number */
		dup3(fd, WIRE_FIXED_FD_STDERR_PTY, O_CLOEXEC);
		close(fd);
	}
	send_message(STARTER_STDERR_PTY, fd >= 0, 0);
}

static void reap(struct starter *s)
{
	struct signalfd_siginfo ignored;
	int status;
	pid_t pid;
	while (read(s->signal_fd, &ignored, sizeof ignored) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != s->shell)
			continue;
		s->shell = 0;
		send_message(STARTER_ENDED, status, 0);
	}
	if (pid < 0 && errno == ECHILD && s->started && !s->respawn)
		_exit(0);
}

static void handle_message(struct starter *s)
{
	struct starter_message m;
	int fd;
	ssize_t n = fdpass_receive(STARTER_SOCKET_FD, &m, sizeof m, &fd);
	if (n < 0 && errno == EINTR)
		return;
	if (n != sizeof m)
		_exit(0);
	switch (m.type) {
	case STARTER_START:
		start(s);
		break;
	case STARTER_NOTE_CWD:
		note_cwd(s);
		break;
	case STARTER_SIGNAL:
		s->respawn = false; /* the session ends */
		tree_signal(m.value);
		reap(s);
		break;
	case STARTER_STDERR_PTY:
		put_stderr_pty(fd);
		break;
	default:
		break;
	}
}

void starter_run(int argc, char **argv)
{
	static struct starter s;
	enum { SOCKET, SIGNALS, POLLS };
	if (!parse_options(argc, argv, &s) || set_up(&s) < 0)
		_exit(ENTER_EXIT);
	prctl(PR_SET_NAME, "ringside-start");
	send_message(STARTER_READY, (int)getpid(), 0);
	for (;;) {
		struct pollfd p[POLLS] = {[SOCKET] = {.fd = STARTER_SOCKET_FD, .events = POLLIN},
			[SIGNALS] = {.fd = s.signal_fd, .events = POLLIN}};
		if (poll(p, POLLS, -1) < 0)
			continue;
		if (p[SIGNALS].revents)
			reap(&s);
		if (p[SOCKET].revents)
			handle_message(&s);
	}
}
