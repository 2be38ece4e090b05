/* The PTY and the shell on it. */
#include "pty/holder/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static int open_pair(int *ret_master, int *ret_slave)
{
	int rc, slave;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0)
		return -errno;
	char name[64];
	if (grantpt(master) < 0 || unlockpt(master) < 0) {
		rc = -errno;
		goto err_master;
	}
	rc = -ptsname_r(master, name, sizeof name);
	if (rc < 0)
		goto err_master;
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0) {
		rc = -errno;
		goto err_master;
	}
	*ret_master = master;
	*ret_slave = slave;
	return 0;
err_master:
	close(master);
	return rc;
}

static int set_size(int fd, unsigned rows, unsigned cols, unsigned width, unsigned height)
{
	struct winsize size = {
		.ws_row = (unsigned short)rows,
		.ws_col = (unsigned short)cols,
		.ws_xpixel = (unsigned short)width,
		.ws_ypixel = (unsigned short)height,
	};
	return ioctl(fd, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

/* In the child: tell the parent what failed (errno), and be gone. */
static _Noreturn void child_fail(int report_fd, enum report_stage stage)
{
	struct report r = {.stage = (int32_t)stage, .error = -errno};
	(void)!write(report_fd, &r, sizeof r); /* without a reader there is nobody to tell */
	_exit(127);
}

/* Between fork and exec: only async-signal-safe calls. */
static _Noreturn void child_run(
	const struct holder_options *o, const char *cwd, int slave, int report_fd)
{
	static const unsigned long default_action[8]; /* the kernel's struct sigaction, all zero: SIG_DFL */
	struct rlimit limit;
	sigset_t none;
	/*
	 * Dispositions that were "ignore" survive exec; the shell must see none but its own. By the system
	 * call, for libc does not let go of signals 32 and 33, which its posix_spawn leaves ignored.
	 */
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		syscall(SYS_rt_sigaction, signo, default_action, NULL, sizeof(uint64_t));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Without its holder a session is over, whoever else may still have the master open. */
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		child_fail(report_fd, REPORT_TERMINAL);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(slave, fd) < 0)
			child_fail(report_fd, REPORT_TERMINAL);
	if (o->nofile > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = (rlim_t)o->nofile;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	/* Where that is not allowed the session has no mark. */
	if (o->mark > 0 && getrlimit(RLIMIT_LOCKS, &limit) == 0) {
		limit.rlim_cur = o->mark;
		setrlimit(RLIMIT_LOCKS, &limit);
	}
	int rc = enter_limits(&o->limits);
	if (rc < 0) {
		errno = -rc;
		child_fail(report_fd, REPORT_SETUP);
	}
	/* Where the last one was may be gone. */
	if ((!cwd[0] || chdir(cwd) < 0) && chdir(o->cwd) < 0)
		child_fail(report_fd, REPORT_CHDIR);
	execvp(o->argv[0], o->argv);
	child_fail(report_fd, REPORT_EXEC);
}

/* The shell, with the slave as its terminal. Returns 0 with h->shell set, or -errno and what has failed. */
static int start_shell(struct holder *h, int slave, enum report_stage *ret_stage)
{
	int pipe_fds[2], rc;
	struct report report;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		child_run(&h->options, h->cwd, slave, pipe_fds[1]);
	rc = pid < 0 ? -errno : 0;
	close(pipe_fds[1]);
	if (rc == 0) {
		ssize_t n;
		do
			n = read(pipe_fds[0], &report, sizeof report);
		while (n < 0 && errno == EINTR);
		if (n == sizeof report) {
			*ret_stage = (enum report_stage)report.stage;
			rc = report.error;
			waitpid(pid, NULL, 0);
		}
	}
	close(pipe_fds[0]);
	if (rc == 0)
		h->shell = pid;
	return rc;
}

int terminal_start(struct holder *h, enum report_stage *ret_stage)
{
	int master = -1, slave = -1, rc;
	*ret_stage = REPORT_TERMINAL;
	rc = open_pair(&master, &slave);
	if (rc < 0)
		return rc;
	if (tcgetattr(slave, &h->modes) == 0) {
		h->modes.c_iflag |= IUTF8;
		if (h->options.no_flow)
			h->modes.c_iflag &= ~(tcflag_t)IXON;
		tcsetattr(slave, TCSANOW, &h->modes);
	}
	rc = set_size(slave, h->options.rows, h->options.cols, 0, 0);
	if (rc == 0)
		rc = start_shell(h, slave, ret_stage);
	if (rc < 0)
		goto err_pair;
	close(slave);
	h->sources[EVENT_SOURCE_TERMINAL].fd = master;
	return 0;
err_pair:
	close(master);
	close(slave);
	return rc;
}

void terminal_note_cwd(struct holder *h)
{
	char path[32], cwd[HOLDER_CWD_MAX];
	snprintf(path, sizeof path, "/proc/%d/cwd", (int)h->shell);
	ssize_t n = h->shell > 0 ? readlink(path, cwd, sizeof cwd) : 0;
	if (n <= 0 || (size_t)n == sizeof cwd)
		return; /* it has ended since: what it said before holds */
	memcpy(h->cwd, cwd, (size_t)n);
	h->cwd[n] = '\0';
}

int terminal_restart(struct holder *h)
{
	enum report_stage stage;
	int master = h->sources[EVENT_SOURCE_TERMINAL].fd;
	int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	/* What was typed for the old one, or for a program that has died with it, must not become commands. */
	tcflush(master, TCOFLUSH);
	tcflush(slave, TCIFLUSH);
	tcsetattr(slave, TCSANOW, &h->modes);
	tcflow(slave, TCOON);
	set_size(slave, h->options.rows, h->options.cols, 0, 0);
	int rc = start_shell(h, slave, &stage);
	close(slave);
	return rc;
}

int terminal_open_second(struct holder *h, char *name)
{
	int master = -1, slave = -1, rc;
	struct termios modes;
	if (h->sources[EVENT_SOURCE_STDERR_PTY].fd >= 0)
		return -EBUSY;
	rc = open_pair(&master, &slave);
	if (rc < 0)
		return rc;
	if (tcgetattr(slave, &modes) < 0 || ptsname_r(master, name, 64) != 0) {
		rc = -errno;
		goto err_pair;
	}
	/* Raw, so that the bytes are exact; what people see gets its CR when it is put into the ring. */
	cfmakeraw(&modes);
	if (tcsetattr(slave, TCSANOW, &modes) < 0) {
		rc = -errno;
		goto err_pair;
	}
	set_size(slave, h->options.rows, h->options.cols, 0, 0);
	close(slave);
	h->sources[EVENT_SOURCE_STDERR_PTY] = (struct source){.fd = master, .add_cr = true};
	return 0;
err_pair:
	close(master);
	close(slave);
	return rc;
}

int terminal_resize(struct holder *h, unsigned rows, unsigned cols, unsigned width, unsigned height)
{
	struct event_resize payload = {.rows = (uint16_t)rows, .cols = (uint16_t)cols};
	if (rows == 0 || cols == 0 || rows > UINT16_MAX || cols > UINT16_MAX)
		return -EINVAL;
	if (h->exited)
		return -ESRCH;
	if (!feed_has_event_room(h))
		return -EAGAIN;
	/* What was written for the old size comes before the event, as far as the ring can take it. */
	feed_all(h);
	int rc = set_size(h->sources[EVENT_SOURCE_TERMINAL].fd, rows, cols, width, height);
	if (rc < 0)
		return rc;
	if (h->sources[EVENT_SOURCE_STDERR_PTY].fd >= 0)
		set_size(h->sources[EVENT_SOURCE_STDERR_PTY].fd, rows, cols, width, height);
	h->options.rows = rows;
	h->options.cols = cols;
	atomic_store(&h->ring.header->geometry, rows << 16 | cols);
	feed_event(h, EVENT_RESIZE, &payload, sizeof payload);
	return 0;
}
