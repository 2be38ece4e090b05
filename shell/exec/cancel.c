/*
 * The ladder: INT, then QUIT, TERM and KILL to the foreground process group, each after a grace. When that is
 * the shell's own (a loop of builtins) only INT is sent: nothing costs the shell.
 *
 * bash's child loses an INT that comes between its fork and its exec, bash itself forgets one while it waits for a
 * child that did not get it, and a loop of the shell goes on when what it runs is ended by anything but INT. So while
 * it is INT's turn, it is sent again to whatever comes into the foreground; to the shell only when it stays there, for
 * it may be on its way to its prompt. Nothing is sent before the command has begun: readline would be interrupted. A
 * Ctrl-C that is typed is looked after in the same way where it may have been lost, and nowhere else: programs may have
 * a use for it.
 *
 * The server sends signals itself: asked for at the holder they could come late, and hit the next command. INT and QUIT
 * go by the terminal, which knows its foreground; others go to each process below the holder by itself, for the number
 * of a group may belong to another group by now.
 */
#include "shell/exec/internal.h"

#include "pty/proc/proc.h"
#include "shell/clock.h"
#include "shell/proc/foreground.h"
#include "shell/proc/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static const int steps[] = {SIGINT, SIGQUIT, SIGTERM, SIGKILL};
#define STEPS (sizeof steps / sizeof *steps)

#define REPEATS_MAX 100u
#define DEPTH_MAX 8

/* What a process runs: its file and its arguments (FNV-1a). 0: not known. */
static uint64_t program_of(const struct exec *e, pid_t pid)
{
	char arguments[256];
	struct peek *peek = &e->executor->all->peek;
	const struct peek_target target = exec_peek_target(e->executor, pid);
	uint64_t hash = UINT64_C(0xcbf29ce484222325), program = peek_program(peek, target);
	ssize_t n = program > 0 ? peek_arguments(peek, target, arguments, sizeof arguments) : -1;
	if (n < 0)
		return 0;
	for (ssize_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)arguments[i]) * UINT64_C(0x100000001b3);
	return hash ^ program;
}

/* What a process does at an INT, if it runs or waits. */
struct use_of_int {
	bool known, ignored, caught;
};

static struct use_of_int use_of_int(pid_t pid)
{
	char text[PROC_STATUS_MAX] = "";
	const unsigned long long bit = 1ull << (SIGINT - 1);
	int fd = proc_open(pid);
	if (fd >= 0) {
		(void)proc_read(fd, "status", text, sizeof text);
		close(fd);
	}
	const char *state = strstr(text, "\nState:\t"), *ignored = strstr(text, "\nSigIgn:\t"),
		   *caught = strstr(text, "\nSigCgt:\t");
	if (!state || !ignored || !caught || !strchr("RSD", state[8]))
		return (struct use_of_int){0};
	return (struct use_of_int){.known = true,
		.ignored = strtoull(ignored + 9, NULL, 16) & bit,
		.caught = strtoull(caught + 9, NULL, 16) & bit};
}

/* Whether a process would be dead had it got the last INT: it lives, and has no other use for it. */
static bool has_missed(pid_t pid)
{
	const struct use_of_int use = use_of_int(pid);
	return use.known && !use.ignored && !use.caught;
}

/*
 * The same for a group's leader, and what it has started in turn: a shell catches an INT, and waits for the program that
 * lost it.
 */
static bool group_has_missed(pid_t group)
{
	pid_t pid = group;
	for (int depth = 0; pid > 0 && getpgid(pid) == group && depth < DEPTH_MAX; depth++) {
		if (has_missed(pid))
			return true;
		pid = foreground_youngest(pid);
	}
	return false;
}

static pid_t shell_of(const struct exec *e)
{
	return e->executor->pane->held.link.info.shell_pid;
}

/*
 * The group that the shell waits for although the terminal is its own again: of a pipeline one process has got an INT and ended,
 * and another has lost it. It has been started last, for the shell does nothing else meanwhile. 0: none; so it is with a shell
 * that ignores INT, and may wait for a job in the background.
 */
static pid_t waited_group(const struct exec *e)
{
	pid_t shell = shell_of(e), child = foreground_youngest(shell);
	pid_t group = child > 0 ? getpgid(child) : 0;
	if (group <= 0 || group == shell || !exec_awaits_child(e->executor, UINT64_MAX))
		return 0;
	const struct use_of_int use = use_of_int(shell);
	return use.known && !use.ignored ? group : 0;
}

static int signal_group(const struct exec *e, pid_t group, int signo)
{
	int rc = tree_signal_group(e->executor->pane->held.link.info.holder_pid, group, signo);
	return rc < 0 ? rc : 0;
}

/* To the shell, which has got one already or must not get this one: to what it waits for. Returns 0 when it was sent. */
static int signal_shell(struct exec *e, int signo, bool again)
{
	pid_t waited = again || signo != SIGINT ? waited_group(e) : 0;
	int rc = waited > 0 ? signal_group(e, waited, signo) : -EPERM;
	if (signo == SIGINT)
		rc = ioctl(e->executor->pane->held.link.master_fd, TIOCSIG, signo) < 0 ? -errno : 0;
	return rc;
}

/* Returns 0 when it was sent. */
static int deliver_signal(struct exec *e, int signo)
{
	int master = e->executor->pane->held.link.master_fd;
	pid_t group = tcgetpgrp(master);
	if (group <= 0)
		return -ESRCH;
	bool again = e->ladder_group == group;
	e->executor->signalled_ms = exec_now(e->executor);
	e->ladder_group = group;
	e->ladder_program = program_of(e, group);
	e->ladder_front_ms = 0;
	if (group == shell_of(e))
		return signal_shell(e, signo, again);
	if (signo == SIGINT || signo == SIGQUIT)
		return ioctl(master, TIOCSIG, signo) < 0 ? -errno : 0;
	return signal_group(e, group, signo);
}

static void note_signal(struct exec *e, int signo)
{
	e->interrupted = true;
	if (e->signals_count < sizeof e->signals / sizeof *e->signals)
		e->signals[e->signals_count++] = signo;
}

/* The next step. */
static void take_next_step(struct exec *e)
{
	/* A step that cannot be taken now is left out. */
	while (e->ladder_step < STEPS) {
		int signo = steps[e->ladder_step++];
		if (deliver_signal(e, signo) < 0)
			continue;
		note_signal(e, signo);
		uint64_t least = signo == SIGKILL ? EXEC_KILLED_MS : 0;
		e->ladder_ms = exec_now(e->executor) + (e->grace_ms > least ? e->grace_ms : least);
		return;
	}
	e->ladder_ms = 0;
	e->unkillable = true;
	exec_changed(e);
}

/* Whether the last signal was sent to this group, and it runs the same program still as far as is known. */
static bool is_same(const struct exec *e, pid_t group)
{
	if (group != e->ladder_group)
		return false;
	uint64_t program = program_of(e, group);
	return program == 0 || e->ladder_program == 0 || program == e->ladder_program;
}

/* Whether something else is in the foreground than what the last signal was sent to, or it has not got that. */
static bool has_changed(struct exec *e)
{
	uint64_t now = exec_now(e->executor);
	pid_t group = tcgetpgrp(e->executor->pane->held.link.master_fd);
	if (group <= 0)
		return false;
	if (group != shell_of(e)) {
		e->ladder_front_ms = 0;
		return !is_same(e, group) || group_has_missed(group);
	}
	if (e->ladder_front_ms == 0)
		e->ladder_front_ms = now;
	/* One that edits a line has got it, or does so at a prompt that does not tell. */
	if (group == e->ladder_group && e->ladder_repeats > 1 && exec_shell_reads_keys(e->executor))
		return false;
	uint64_t patience = group == e->ladder_group ? EXEC_AGAIN_MS : EXEC_SETTLE_MS;
	return now >= e->ladder_front_ms + patience && !exec_is_behind(e->executor);
}

void exec_ladder_tick(struct exec *e)
{
	bool interrupts = e->ladder_step > 0 && steps[e->ladder_step - 1] == SIGINT;
	if (exec_now(e->executor) >= e->ladder_ms)
		take_next_step(e);
	else if (interrupts && e->ladder_repeats < REPEATS_MAX && has_changed(e)) {
		e->ladder_repeats++;
		(void)deliver_signal(e, SIGINT); /* otherwise the next step comes */
	}
}

/* Typed */

/* Whether a process is a child of the shell that has not become what it is to be. */
static bool is_unborn(const struct exec *e, pid_t pid)
{
	uint64_t program = pid > 0 && pid != shell_of(e) ? program_of(e, pid) : 0;
	return program != 0 && program == program_of(e, shell_of(e));
}

void exec_interrupt_typed(struct exec *e)
{
	struct executor *x = e->executor;
	struct termios modes;
	pid_t group = tcgetpgrp(x->pane->held.link.master_fd);
	if (e->ladder_ms > 0 || tcgetattr(x->pane->held.link.master_fd, &modes) < 0 ||
		!(modes.c_lflag & ISIG))
		return;
	e->interrupted = true;
	bool begins = clock_wall_ms() < e->started_ms + EXEC_SETTLE_MS;
	bool front = group == shell_of(e);
	if (front && !begins && !is_unborn(e, foreground_youngest(group)))
		return;
	e->typed_group = front || is_unborn(e, group) ? 0 : group;
	e->typed_until_ms = exec_now(x) + EXEC_GRACE_MS;
	executors_attend(x);
}

void exec_interrupt_tick(struct exec *e)
{
	int master = e->executor->pane->held.link.master_fd;
	pid_t group = tcgetpgrp(master);
	if (exec_now(e->executor) >= e->typed_until_ms || e->ladder_ms > 0) {
		e->typed_until_ms = 0;
		return;
	}
	pid_t waited = group == shell_of(e) ? waited_group(e) : 0;
	/* Where it has gone meanwhile that is as good. */
	if (waited > 0 && group_has_missed(waited))
		(void)signal_group(e, waited, SIGINT);
	if (group <= 0 || group == shell_of(e) || (e->typed_group && group != e->typed_group))
		return;
	if (has_missed(group))
		(void)ioctl(master, TIOCSIG, SIGINT);
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
	/* Its shell reads what was typed: an INT would tear that, or come before there is anything to be ended. */
	e->cancel_due = e->state == EXEC_STARTING;
	e->cancel_signal = first_signal;
	if (e->cancel_due)
		return;
	e->ladder_step = 0;
	while (e->ladder_step < STEPS - 1 && first_signal > 0 &&
		steps[e->ladder_step] != first_signal)
		e->ladder_step++;
	e->ladder_repeats = 0;
	e->ladder_group = 0;
	take_next_step(e);
}
