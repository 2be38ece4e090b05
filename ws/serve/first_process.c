/* See first_process.h. Nothing of the namespace outlives its first process: the kernel sees to that. */
#include "ws/serve/first_process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wait for children that have ended. Returns whether the server is one of them. */
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

static _Noreturn void look_after(pid_t server, const sigset_t *all)
{
	siginfo_t info;
	int status;
	while (!reap(server, &status)) {
		/* Others would end the server. What the terminal's keys send, it has from the kernel as well. */
		int signo = sigwaitinfo(all, &info);
		if ((signo == SIGTERM || signo == SIGINT) && info.si_code != SI_KERNEL)
			kill(server, signo);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int first_process_step_behind(void)
{
	sigset_t all, before;
	/* What hands sockets to a server by its pid looks after it as well, see sd_listen_fds(3). */
	if (getpid() != 1 || getenv("LISTEN_PID"))
		return 0;
	signal(SIGCHLD, SIG_DFL); /* else the ends of children would not be told */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid_t server = fork();
	if (server > 0)
		look_after(server, &all);
	int rc = server < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
