/*
 * The ladder: INT, then QUIT, TERM and KILL to the foreground process group, each after a grace. When that is
 * the shell's own (a loop of builtins) only INT is sent: nothing costs the shell.
 */
#include "shell/exec_internal.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const int steps[] = {SIGINT, SIGQUIT, SIGTERM, SIGKILL};
#define STEPS (sizeof steps / sizeof *steps)

/* Returns 0 when it was sent. */
static int deliver(struct exec *e, int signo)
{
	struct session *s = e->executor->session;
	pid_t group = tcgetpgrp(s->link.master_fd);
	if (group <= 0)
		return -ESRCH;
	if (group == s->link.info.shell_pid)
		return signo == SIGINT ? session_signal(s, signo, WIRE_TARGET_FOREGROUND) : -EPERM;
	return kill(-group, signo) < 0 ? -errno : 0;
}

static void note(struct exec *e, int signo)
{
	if (e->signals_count < sizeof e->signals / sizeof *e->signals)
		e->signals[e->signals_count++] = signo;
}

void exec_ladder(struct exec *e)
{
	/* A step that cannot be taken now is left out. */
	while (e->ladder_step < STEPS) {
		int signo = steps[e->ladder_step++];
		if (deliver(e, signo) < 0)
			continue;
		note(e, signo);
		e->ladder_ms = exec_now(e->executor) + e->grace_ms;
		return;
	}
	e->ladder_ms = 0;
	e->unkillable = true;
	exec_changed(e);
}

void exec_cancel(struct exec *e, int first_signal, unsigned grace_ms)
{
	if (e->state == EXEC_DONE)
		return;
	if (e->state == EXEC_QUEUED) {
		exec_finish(e, EXEC_END_CANCELLED);
		return;
	}
	e->grace_ms = grace_ms;
	e->unkillable = false;
	e->ladder_step = 0;
	while (e->ladder_step < STEPS - 1 && first_signal > 0 &&
		steps[e->ladder_step] != first_signal)
		e->ladder_step++;
	exec_ladder(e);
}
