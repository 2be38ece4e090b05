/*
 * See state.h. Kernel, marks and screen give evidence; state_judge() concludes, and marks guesses
 * as such. What cannot be read counts as unknown, not as an error.
 */
#include "shell/wait/state.h"

#include "shell/exec/shell_state.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *state_status_name(enum state_status status)
{
	static const char *const names[] = {[STATE_PROMPT] = "prompt",
		[STATE_STARTING] = "starting",
		[STATE_RUNNING] = "running",
		[STATE_WAITING_INPUT] = "waiting_input",
		[STATE_STOPPED] = "stopped",
		[STATE_FULLSCREEN] = "fullscreen",
		[STATE_EXITED] = "exited"};
	return names[status];
}

const char *state_input_name(enum state_input input)
{
	static const char *const names[] = {[STATE_INPUT_NONE] = NULL,
		[STATE_INPUT_LINE] = "line",
		[STATE_INPUT_PASSWORD] = "password",
		[STATE_INPUT_RAW] = "raw"};
	return names[input];
}

/* Programs that pass the terminal on elsewhere. They always poll for keys. */
static bool is_relay(const char *name)
{
	static const char *const names[] = {"ssh", "mosh-client", "telnet", "rlogin", "docker",
		"podman", "nerdctl", "kubectl", "lxc", "machinectl", "systemd-run", "tmux",
		"tmux: client", "screen", "dtach", "abduco", "script", "expect", "socat", "nc",
		"minicom", "picocom", "cu", "gdbserver", "adb", "vagrant", "sudo", "su", "runuser",
		"zellij", "asciinema", "unbuffer", "rlwrap"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum state_input input_kind(const struct foreground *f)
{
	if (!f->line)
		return STATE_INPUT_RAW;
	return f->echo ? STATE_INPUT_LINE : STATE_INPUT_PASSWORD;
}

static void set_waiting(struct pane_state *t, enum state_input input)
{
	t->status = STATE_WAITING_INPUT;
	t->input = input;
}

/* The shell itself waits for input: at its prompt, or in a builtin such as `read`. */
static void judge_reading_shell(const struct state_evidence *e, struct pane_state *t)
{
	const struct foreground *f = e->foreground;
	t->status = STATE_PROMPT;
	if (!e->marked) {
		/* `read` in a shell without line editing looks the same. */
		t->certain = t->certain && !f->line;
		return;
	}
	switch (e->prompt) {
	case EXEC_PROMPT_CONTINUATION:
		set_waiting(t, STATE_INPUT_LINE);
		break;
	case EXEC_PROMPT_LEFT:
		/*
		 * A command runs: `read`. But a shell that waits in poll or select without a known
		 * command may have replaced ours, or have lost its marks.
		 */
		if (e->behind || (e->executing && !e->begun)) {
			/* The next prompt, or still the one at which the command was typed. */
			t->status = STATE_RUNNING;
			t->certain = false;
		} else if (f->line || f->waits == BLOCKED_READ || e->executing)
			set_waiting(t, input_kind(f));
		else
			t->certain = false;
		break;
	default:
		/* A line that has been entered may have begun. */
		t->certain = t->certain && !e->behind;
		break;
	}
}

/* No program of the foreground was seen waiting, and some could not be inspected. */
static void judge_hidden(const struct state_evidence *e, struct pane_state *t)
{
	const struct foreground *f = e->foreground;
	t->certain = false;
	if (f->modes_known && !(f->line && f->echo) && e->quiet_ms >= STATE_QUIET_MS)
		set_waiting(t, input_kind(f));
}

static void judge_program(const struct state_evidence *e, struct pane_state *t)
{
	const struct foreground *f = e->foreground;
	if (f->stopped) {
		t->status = STATE_STOPPED;
	} else if (f->waits == BLOCKED_NO) {
		if (f->hidden || f->truncated || f->pid == 0)
			judge_hidden(e, t);
	} else if (f->waits == BLOCKED_EVENT && !f->line && is_relay(f->waiter_name)) {
		judge_hidden(e, t);
	} else {
		set_waiting(t, input_kind(f));
	}
}

/* The shell reads its startup files. One that edits a line may have lost its marks. */
static void judge_start(const struct state_evidence *e, struct pane_state *t)
{
	const struct foreground *f = e->foreground;
	if (t->status == STATE_STOPPED)
		return;
	if (t->status == STATE_PROMPT && !f->line && f->waits == BLOCKED_EVENT && !e->behind) {
		t->certain = false;
		return;
	}
	if (t->status == STATE_PROMPT) {
		t->input = f->waits == BLOCKED_NO ? STATE_INPUT_NONE : input_kind(f);
		t->certain = !f->guessed && !e->fresh && !e->behind;
	}
	t->status = STATE_STARTING;
}

void state_judge(const struct state_evidence *e, struct pane_state *t)
{
	const struct foreground *f = e->foreground;
	bool front = f->group == e->shell;
	t->status = STATE_RUNNING;
	t->input = STATE_INPUT_NONE;
	t->certain = !f->guessed && !e->fresh && f->group > 0;
	if (front && f->waits != BLOCKED_NO && f->waiter == e->shell) {
		judge_reading_shell(e, t);
	} else if (front && f->hidden && e->marked && e->prompt == EXEC_PROMPT_READY &&
		!e->executing) {
		t->status = STATE_PROMPT;
		t->certain = false;
	} else {
		judge_program(e, t);
	}
	if (e->starting)
		judge_start(e, t);
	if (e->alternate && t->status != STATE_PROMPT && t->status != STATE_STOPPED)
		t->status = STATE_FULLSCREEN;
}

static void read_screen(const struct pane *p, struct pane_state *t)
{
	const struct glance g = pane_screen_summary(p);
	t->screen_version = g.version;
	t->alternate = g.alternate;
	t->progress = g.progress;
	snprintf(t->title, sizeof t->title, "%s", g.title);
}

bool state_has_unread(const struct pane *p)
{
	int bytes = 0;
	return ioctl(p->held.link.master_fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

/*
 * Whether output that a program wrote before it was seen waiting may not have reached the ring.
 * poll() makes the kernel deliver what was written to the terminal; a sleeping holder has read
 * nothing that is not in the ring.
 */
static bool is_coming(const struct pane *p)
{
	struct pollfd terminal = {.fd = p->held.link.master_fd, .events = POLLIN};
	return poll(&terminal, 1, 0) > 0 || !foreground_is_sleeping(p->held.link.info.holder_pid) ||
		state_has_unread(p);
}

static void read_foreground(const struct pane *p, struct executor *x, struct pane_state *t)
{
	uint64_t now = pane_now(p);
	const struct foreground_target target = exec_foreground(x);
	foreground_look(&target, &t->foreground);
	const struct foreground *f = &t->foreground;
	bool shell = f->waiter == target.shell;
	/* It costs more than the rest, so it is not asked of a shell at its prompt. */
	t->coming = f->waits != BLOCKED_NO && (!shell || x->prompt == EXEC_PROMPT_LEFT) &&
		is_coming(p);
	const struct state_evidence evidence = {.foreground = f,
		.shell = target.shell,
		.marked = exec_shell_has_marks(x),
		.prompt = x->prompt,
		.starting = exec_shell_is_starting(x) && exec_shell_is_ours(x),
		.executing = x->current != NULL,
		.alternate = t->alternate,
		.begun = x->current && x->current->state == EXEC_RUNNING,
		/* Marks of the shell and records may not have been followed, or may come. */
		.behind = (shell && t->coming) || exec_is_behind(x) || state_has_unread(p),
		.fresh = p->typed_ms > 0 && now < p->typed_ms + STATE_FRESH_MS,
		.quiet_ms = t->quiet_ms};
	state_judge(&evidence, t);
	if (t->status == STATE_STARTING)
		foreground_descend(&target, &t->foreground);
	if (t->status != STATE_PROMPT)
		return;
	t->progress = (struct progress){0};
	t->stopped_jobs = foreground_count_stopped_jobs(target.shell);
}

void pane_state(struct pane *p, struct executor *x, struct pane_state *t)
{
	*t = (struct pane_state){.status = STATE_RUNNING, .rows = p->rows, .cols = p->cols};
	if (!p->history_open)
		return;
	const struct block *block = blocks_running(x->blocks);
	uint64_t now = pane_now(p);
	t->offset = pane_head(p);
	t->quiet_ms = now > p->output_ms ? now - p->output_ms : 0;
	read_screen(p, t);
	t->pasting = x->paste.open || x->typing->paste.open;
	if (x->current)
		snprintf(t->exec, sizeof t->exec, "%s", x->current->id);
	if (block)
		block_id(block, t->block);
	if (p->life.exited) {
		t->progress = (struct progress){0};
		t->status = STATE_EXITED;
		t->certain = true;
		t->exit_known = p->life.status_known;
		t->exit_status = p->life.status;
	} else if (p->life.runs) {
		(void)exec_shell_directory(x, t->cwd, sizeof t->cwd);
		read_foreground(p, x, t);
	}
}
