/*
 * The guard: the parent of a holder. It waits for the holder's end, with only the session's
 * directory open; the directory's lock shows the server that processes of the session are alive. If
 * the holder is killed, its descendants become children of the guard, the next subreaper; the guard
 * kills them and exits. On SIGTERM it kills the holder first.
 */
#include "pty/holder/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_NAME "ringside-guard"
#define HOLDER_NAME "ringside-holder"
#define PAUSE_MS 10 /* between two rounds of SIGKILL; doubles up to PAUSE_MAX_MS */
#define PAUSE_MAX_MS 160

/* Reap children; *holder becomes 0 when it has ended. Returns false when no child is left. */
static bool reap(pid_t *holder)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		if (pid == *holder)
			*holder = 0;
	return !(pid < 0 && errno == ECHILD);
}

static void kill_all(int dir_fd)
{
	pid_t none = 0;
	for (int pause_ms = PAUSE_MS; reap(&none); pause_ms *= pause_ms < PAUSE_MAX_MS ? 2 : 1) {
		tree_kill();
		poll(NULL, 0, pause_ms);
	}
	unlinkat(dir_fd, WIRE_SOCKET, 0);
}

static _Noreturn void watch(pid_t holder, int dir_fd)
{
	sigset_t awaited;
	int signo;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGTERM);
	while (reap(&holder) && holder > 0)
		if (sigwait(&awaited, &signo) == 0 && signo == SIGTERM)
			kill(holder, SIGKILL);
	kill_all(dir_fd);
	_exit(0);
}

void guard_detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	(void)!chdir("/");
}

int guard_split(int dir_fd, char *name)
{
	sigset_t all, before;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	/* Before the fork, so that the guard is never seen under the holder's name. */
	prctl(PR_SET_NAME, GUARD_NAME);
	pid_t pid = fork();
	if (pid <= 0)
		prctl(PR_SET_NAME, HOLDER_NAME);
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		setsid();
		sigprocmask(SIG_SETMASK, &before, NULL);
		return 0;
	}
	/* Overwrite argv[0] for lists of processes. */
	size_t length = strlen(name);
	if (length >= strlen(GUARD_NAME)) {
		memset(name, 0, length);
		snprintf(name, length + 1, "%s", GUARD_NAME);
	}
	/* Close the holder's descriptors. */
	if (dir_fd > 3)
		close_range(3, (unsigned)dir_fd - 1, 0);
	close_range((unsigned)dir_fd + 1, ~0u, 0);
	guard_detach();
	watch(pid, dir_fd);
}
