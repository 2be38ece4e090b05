/* When the first process exits, the kernel kills all processes of the namespace. */
#include "ws/serve/first_process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reap children that have ended. Returns whether the server is one of them. */
static bool reap(pid_t server, int *ret_status)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == server) {
			*ret_status = status;
			return true;
		}
	}
	return false;
}

static _Noreturn void supervise(pid_t server, const sigset_t *all)
{
	siginfo_t info;
	int status;
	while (!reap(server, &status)) {
		/* Only these end or upgrade the server orderly. The kernel sends the signals of the terminal's keys to the server too. */
		int signo = sigwaitinfo(all, &info);
		bool forwarded = signo == SIGTERM || signo == SIGINT || signo == SIGUSR2;
		if (forwarded && info.si_code != SI_KERNEL)
			kill(server, signo);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int first_process_fork(void)
{
	sigset_t all, before;
	/* Passed sockets belong to this pid (sd_listen_fds(3)), and their manager reaps orphans itself. */
	if (getpid() != 1 || getenv("LISTEN_PID"))
		return 0;
	signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitpid() gets no status */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid_t server = fork();
	if (server > 0)
		supervise(server, &all);
	int rc = server < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
