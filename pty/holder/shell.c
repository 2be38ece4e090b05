/* See shell.h. Between fork and exec only async-signal-safe functions are called. */
#include "pty/holder/shell.h"

#include "pty/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Report errno to the parent and exit. */
static _Noreturn void fail(int report_fd, enum report_stage stage)
{
	struct report r = {.stage = (int32_t)stage, .error = -errno};
	(void)!write(report_fd, &r, sizeof r); /* fails if the parent is gone */
	_exit(127);
}

void shell_reset_signals(void)
{
	/* The kernel's struct sigaction; all zero is SIG_DFL. */
	static const unsigned long default_action[8];
	sigset_t none;
	/*
	 * Ignored signals stay ignored after exec. The system call is needed for signals 32 and 33,
	 * which libc's sigaction() refuses and its posix_spawn() leaves ignored.
	 */
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		syscall(SYS_rt_sigaction, signo, default_action, NULL, sizeof(uint64_t));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void shell_limit_descriptors(long most)
{
	struct rlimit limit;
	if (most > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = (rlim_t)most;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static _Noreturn void run(const struct shell_options *o, int slave, int report_fd)
{
	const struct starter_message entered = {.type = STARTER_ENTERED};
	shell_reset_signals();
	/* If the parent dies, the session hangs up even if another process has the master open. */
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		fail(report_fd, REPORT_TERMINAL);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(slave, fd) < 0)
			fail(report_fd, REPORT_TERMINAL);
	shell_limit_descriptors(o->nofile);
	int rc = o->limits ? enter_limits(o->limits) : 0;
	if (rc < 0) {
		errno = -rc;
		fail(report_fd, REPORT_SETUP);
	}
	/* The last shell's directory may be gone. */
	if ((!o->cwd[0] || chdir(o->cwd) < 0) && chdir(o->fallback) < 0)
		fail(report_fd, REPORT_CHDIR);
	if (o->announce_fd >= 0 &&
		send(o->announce_fd, &entered, sizeof entered, MSG_NOSIGNAL) != sizeof entered)
		fail(report_fd, REPORT_SETUP);
	enter_unhide_environment();
	execvp(o->argv[0], o->argv);
	fail(report_fd, REPORT_EXEC);
}

int shell_start(
	const struct shell_options *o, int slave, pid_t *ret_pid, enum report_stage *ret_stage)
{
	struct report report;
	int fds[2];
	ssize_t n = 0;
	*ret_stage = REPORT_SETUP;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		run(o, slave, fds[1]);
	int rc = pid < 0 ? -errno : 0;
	close(fds[1]);
	do
		n = rc == 0 ? read(fds[0], &report, sizeof report) : 0;
	while (n < 0 && errno == EINTR);
	close(fds[0]);
	if (n == sizeof report) {
		*ret_stage = (enum report_stage)report.stage;
		rc = report.error;
		waitpid(pid, NULL, 0);
	}
	if (rc == 0)
		*ret_pid = pid;
	return rc;
}
