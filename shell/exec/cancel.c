/*
 * Cancelling: INT, then QUIT, TERM and KILL to the foreground process group, each after a grace. If
 * that group is the shell's own (a loop of builtins), only INT is sent, so the shell is never
 * killed.
 *
 * An INT can get lost: bash's child loses one that comes between its fork and its exec, bash
 * forgets one while it waits for a child that did not get it, and a loop of the shell goes on when
 * the program in it dies by anything but INT. So until QUIT is due, INT is repeated to whatever
 * comes into the foreground; to the shell only if it stays there, as it may be on its way to its
 * prompt. Nothing is sent before the command has begun, as that would interrupt readline. A typed
 * Ctrl-C is repeated in the same way, but only where it may have been lost, as programs may handle
 * it.
 *
 * The server sends the signals itself, because a request to the holder could arrive late and hit
 * the next command. INT and QUIT go through the terminal, which knows its foreground group. TERM
 * and KILL go to each process below the holder, because the id of a group may have been reused.
 */
#include "shell/exec/internal.h"

#include "pty/proc/proc.h"
#include "shell/clock.h"
#include "shell/hash.h"
#include "shell/proc/foreground.h"
#include "shell/proc/tree.h"

#include <assert.h>
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

/* A hash of the file and arguments that a process runs. 0: not known. */
static uint64_t hash_program(const struct exec *e, pid_t pid)
{
	char arguments[256];
	struct peek *peek = &e->executor->all->peek;
	const struct peek_target target = exec_peek_target(e->executor, pid);
	uint64_t program = peek_program(peek, target);
	ssize_t n = program > 0 ? peek_arguments(peek, target, arguments, sizeof arguments) : -1;
	return n < 0 ? 0 : hash_bytes(HASH_START, arguments, (size_t)n) ^ program;
}

/* How a process handles SIGINT. Not known if it is stopped or a zombie. */
struct int_disposition {
	bool known, ignored, caught;
};

static struct int_disposition read_int_disposition(pid_t pid)
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
		return (struct int_disposition){0};
	return (struct int_disposition){.known = true,
		.ignored = strtoull(ignored + 9, NULL, 16) & bit,
		.caught = strtoull(caught + 9, NULL, 16) & bit};
}

/* Whether a process has not got the last SIGINT: it lives, and neither ignores nor catches it. */
static bool has_missed_int(pid_t pid)
{
	const struct int_disposition d = read_int_disposition(pid);
	return d.known && !d.ignored && !d.caught;
}

/* The same for a group's leader, or a child that it waits for: a shell catches INT. */
static bool group_has_missed_int(pid_t group)
{
	pid_t pid = group;
	for (int depth = 0; pid > 0 && getpgid(pid) == group && depth < DEPTH_MAX; depth++) {
		if (has_missed_int(pid))
			return true;
		pid = foreground_youngest_child(pid);
	}
	return false;
}

static pid_t shell_of(const struct exec *e)
{
	return e->executor->pane->held.link.info.shell_pid;
}

/*
 * The group that the shell waits for although it owns the terminal again: one process of a pipeline
 * has died by INT and another has lost it. That is the youngest child, as the shell does nothing
 * else meanwhile. 0: none, or the shell ignores INT and may be waiting for a background job.
 */
static pid_t find_awaited_group(const struct exec *e)
{
	pid_t shell = shell_of(e), child = foreground_youngest_child(shell);
	pid_t group = child > 0 ? getpgid(child) : 0;
	if (group <= 0 || group == shell || !exec_shell_awaits_child(e->executor, UINT64_MAX))
		return 0;
	const struct int_disposition d = read_int_disposition(shell);
	return d.known && !d.ignored ? group : 0;
}

static int signal_group(const struct exec *e, pid_t group, int signo)
{
	int rc = tree_signal_group(e->executor->pane->held.link.info.holder_pid, group, signo);
	return rc < 0 ? rc : 0;
}

/* Send INT to the shell; again, or for other signals, to the group it waits for. 0 when sent. */
static int signal_shell(struct exec *e, int signo, bool again)
{
	pid_t waited = again || signo != SIGINT ? find_awaited_group(e) : 0;
	int rc = waited > 0 ? signal_group(e, waited, signo) : -EPERM;
	if (signo == SIGINT)
		rc = ioctl(e->executor->pane->held.link.master_fd, TIOCSIG, signo) < 0 ? -errno : 0;
	return rc;
}

/* Send to the foreground group. Returns 0 when sent. */
static int deliver_signal(struct exec *e, int signo)
{
	int master = e->executor->pane->held.link.master_fd;
	pid_t group = tcgetpgrp(master);
	if (group <= 0)
		return -ESRCH;
	bool again = e->cancel_group == group;
	e->executor->signalled_ms = exec_now(e->executor);
	e->cancel_group = group;
	e->cancel_program = hash_program(e, group);
	e->cancel_front_ms = 0;
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

static void move_cancelling(struct exec *e, enum exec_cancelling to)
{
	enum { SENT = 1u << EXEC_CANCEL_SENDING | 1u << EXEC_CANCEL_FAILED };
	static const unsigned moves[] = {[EXEC_CANCEL_NONE] = 1u << EXEC_CANCEL_DUE | SENT,
		[EXEC_CANCEL_DUE] = 1u << EXEC_CANCEL_DUE | SENT,
		[EXEC_CANCEL_SENDING] = SENT,
		[EXEC_CANCEL_FAILED] = SENT}; /* another exec_cancel() */
	assert(moves[e->cancelling] & 1u << to);
	e->cancelling = to;
}

static void send_next_signal(struct exec *e)
{
	/* A signal that cannot be sent now is left out. */
	while (e->cancel_step < STEPS) {
		int signo = steps[e->cancel_step++];
		if (deliver_signal(e, signo) < 0)
			continue;
		note_signal(e, signo);
		uint64_t least = signo == SIGKILL ? EXEC_KILLED_MS : 0;
		e->cancel_next_ms = exec_now(e->executor) +
			(e->grace_ms > least ? e->grace_ms : least);
		move_cancelling(e, EXEC_CANCEL_SENDING);
		return;
	}
	move_cancelling(e, EXEC_CANCEL_FAILED);
	exec_changed(e);
}

/* Whether this group got the last signal and, as far as is known, runs the same program. */
static bool got_last_signal(const struct exec *e, pid_t group)
{
	if (group != e->cancel_group)
		return false;
	uint64_t program = hash_program(e, group);
	return program == 0 || e->cancel_program == 0 || program == e->cancel_program;
}

/* Whether to repeat INT: another program is in the foreground, or the last INT was lost. */
static bool needs_another_int(struct exec *e)
{
	uint64_t now = exec_now(e->executor);
	pid_t group = tcgetpgrp(e->executor->pane->held.link.master_fd);
	if (group <= 0)
		return false;
	if (group != shell_of(e)) {
		e->cancel_front_ms = 0;
		return !got_last_signal(e, group) || group_has_missed_int(group);
	}
	if (e->cancel_front_ms == 0)
		e->cancel_front_ms = now;
	/* A shell that edits a line has handled it; the prompt may have no marks. */
	if (group == e->cancel_group && e->cancel_repeats > 1 && exec_shell_reads_keys(e->executor))
		return false;
	uint64_t patience = group == e->cancel_group ? EXEC_REPEAT_INT_MS : EXEC_SETTLE_MS;
	return now >= e->cancel_front_ms + patience && !exec_is_behind(e->executor);
}

void exec_cancel_tick(struct exec *e)
{
	bool interrupts = e->cancel_step > 0 && steps[e->cancel_step - 1] == SIGINT;
	if (exec_now(e->executor) >= e->cancel_next_ms)
		send_next_signal(e);
	else if (interrupts && e->cancel_repeats < REPEATS_MAX && needs_another_int(e)) {
		e->cancel_repeats++;
		(void)deliver_signal(e, SIGINT); /* if this fails, the next signal follows */
	}
}

/* Typed */

/* Whether a process is a child of the shell that has not called exec yet. */
static bool is_before_exec(const struct exec *e, pid_t pid)
{
	uint64_t program = pid > 0 && pid != shell_of(e) ? hash_program(e, pid) : 0;
	return program != 0 && program == hash_program(e, shell_of(e));
}

void exec_note_interrupt(struct exec *e)
{
	struct executor *x = e->executor;
	struct termios modes;
	pid_t group = tcgetpgrp(x->pane->held.link.master_fd);
	if (e->cancelling == EXEC_CANCEL_SENDING ||
		tcgetattr(x->pane->held.link.master_fd, &modes) < 0 || !(modes.c_lflag & ISIG))
		return;
	e->interrupted = true;
	x->signalled_ms = exec_now(x);
	bool begins = clock_boot_ms() < e->started_boot_ms + EXEC_SETTLE_MS;
	bool is_shell = group == shell_of(e);
	if (is_shell && !begins && !is_before_exec(e, foreground_youngest_child(group)))
		return;
	e->interrupt_group = is_shell || is_before_exec(e, group) ? 0 : group;
	e->interrupt_until_ms = exec_now(x) + EXEC_GRACE_MS;
	executors_add_busy(x);
}

void exec_interrupt_tick(struct exec *e)
{
	int master = e->executor->pane->held.link.master_fd;
	pid_t group = tcgetpgrp(master);
	if (exec_now(e->executor) >= e->interrupt_until_ms || e->cancelling == EXEC_CANCEL_SENDING) {
		e->interrupt_until_ms = 0;
		return;
	}
	pid_t waited = group == shell_of(e) ? find_awaited_group(e) : 0;
	if (waited > 0 && group_has_missed_int(waited))
		(void)signal_group(e, waited, SIGINT);
	if (group <= 0 || group == shell_of(e) ||
		(e->interrupt_group && group != e->interrupt_group))
		return;
	if (has_missed_int(group))
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
	e->cancel_signal = first_signal;
	/* The shell still reads the seal, or has not begun the command: no INT now. */
	if (e->state == EXEC_STARTING) {
		move_cancelling(e, EXEC_CANCEL_DUE);
		return;
	}
	e->cancel_step = 0;
	while (e->cancel_step < STEPS - 1 && first_signal > 0 &&
		steps[e->cancel_step] != first_signal)
		e->cancel_step++;
	e->cancel_repeats = 0;
	e->cancel_group = 0;
	send_next_signal(e);
}
