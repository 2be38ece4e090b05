/*
 * The ladder: INT, then QUIT, TERM and KILL to the foreground process group, each after a grace. When that is
 * the shell's own (a loop of builtins) only INT is sent: nothing costs the shell.
 *
 * bash's child loses an INT that comes between its fork and its exec, and a loop of the shell goes on when what it
 * runs is ended by anything but INT. So while it is INT's turn, it is sent again to whatever comes into the foreground.
 */
#include "shell/exec_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const int steps[] = {SIGINT, SIGQUIT, SIGTERM, SIGKILL};
#define STEPS (sizeof steps / sizeof *steps)

#define REPEATS_MAX 100u

/* What a process runs: the file, by its number; 0: not known. */
static uint64_t program_of(pid_t pid)
{
	char path[32];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Returns 0 when it was sent. */
static int deliver(struct exec *e, int signo)
{
	struct session *s = e->executor->session;
	pid_t group = tcgetpgrp(s->link.master_fd);
	if (group <= 0)
		return -ESRCH;
	e->ladder_group = group;
	e->ladder_program = program_of(group);
	if (group == s->link.info.shell_pid)
		return signo == SIGINT ? session_signal(s, signo, WIRE_TARGET_FOREGROUND) : -EPERM;
	return kill(-group, signo) < 0 ? -errno : 0;
}

static void note(struct exec *e, int signo)
{
	if (e->signals_count < sizeof e->signals / sizeof *e->signals)
		e->signals[e->signals_count++] = signo;
}

/* The next step. */
static void climb(struct exec *e)
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

/* Whether something else is in the foreground than what the last signal was sent to. */
static bool has_changed(const struct exec *e)
{
	pid_t group = tcgetpgrp(e->executor->session->link.master_fd);
	return group > 0 && (group != e->ladder_group || program_of(group) != e->ladder_program);
}

void exec_ladder_tick(struct exec *e)
{
	bool interrupts = e->ladder_step > 0 && steps[e->ladder_step - 1] == SIGINT;
	if (exec_now(e->executor) >= e->ladder_ms)
		climb(e);
	else if (interrupts && e->ladder_repeats < REPEATS_MAX && has_changed(e)) {
		e->ladder_repeats++;
		(void)deliver(e, SIGINT); /* otherwise the next step comes */
	}
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
	e->ladder_repeats = 0;
	climb(e);
}
