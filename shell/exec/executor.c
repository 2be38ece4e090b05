/* See executor.h. Open, follow, close; queue and deadlines are checked by exec_tick(). */
#include "shell/exec/internal.h"

#include "shell/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

uint64_t exec_now(const struct executor *x)
{
	return pane_now(x->pane);
}

void exec_each(const struct executor *x, void (*visit)(void *user, const struct exec *e), void *user)
{
	const struct exec *e;
	DL_FOREACH (x->finished, e)
		visit(user, e);
	if (x->current)
		visit(user, x->current);
	DL_FOREACH (x->queue, e)
		visit(user, e);
}

static void visit_unreported(
	struct exec *e, void (*visit)(void *user, const struct exec *e), void *user)
{
	if (!e->left)
		return;
	e->left = false;
	e->executor->all->unreported--;
	visit(user, e);
}

void exec_each_unreported(
	struct executor *x, void (*visit)(void *user, const struct exec *e), void *user)
{
	struct exec *e;
	DL_FOREACH (x->finished, e)
		visit_unreported(e, visit, user);
	if (x->current)
		visit_unreported(x->current, visit, user);
}

struct exec *exec_find(struct executor *x, const char *id)
{
	struct exec *e;
	if (x->current && strcmp(x->current->id, id) == 0)
		return x->current;
	DL_FOREACH (x->queue, e)
		if (strcmp(e->id, id) == 0)
			return e;
	DL_FOREACH (x->finished, e)
		if (strcmp(e->id, id) == 0)
			return e;
	return NULL;
}

struct exec *exec_find_key(struct executor *x, const char *key)
{
	struct exec *e, *found = NULL;
	if (x->current && strcmp(x->current->key, key) == 0)
		return x->current;
	DL_FOREACH (x->queue, e)
		if (strcmp(e->key, key) == 0)
			return e;
	DL_FOREACH (x->finished, e)
		if (strcmp(e->key, key) == 0)
			found = e; /* finished is in order of age: keep the newest */
	return found;
}

bool exec_find_facts(void *user, const char *id, struct block_exec *ret_exec)
{
	const struct exec *e = exec_find(user, id);
	if (e)
		*ret_exec = exec_facts(e);
	return e != NULL;
}

bool exec_is_busy(struct executor *x)
{
	/* The first test is cheap; exec_busy_reason() would look up the program's name. */
	return x->prompt == EXEC_PROMPT_LEFT || exec_busy_reason(x);
}

const char *exec_busy_reason(struct executor *x)
{
	return x->queue && !x->current ? "Other commands wait" : exec_obstacle(x);
}

const char *exec_obstacle(struct executor *x)
{
	if (x->current)
		return "Another command runs";
	if (x->sign != EXEC_SIGN_NONE)
		return "The shell has not answered since a command was typed";
	if (x->prompt == EXEC_PROMPT_LEFT)
		return exec_foreground_text(x);
	if (x->prompt == EXEC_PROMPT_CONTINUATION)
		return "An incomplete line has been entered";
	return exec_shell_is_starting(x) ? exec_startup_text(x) : NULL;
}

/* Load the blocks of earlier servers, and complete those that belong to execs. */
static void load_blocks(struct executor *x)
{
	const struct exec *e;
	blocks_read_past(x->blocks, x->outline.offset);
	DL_FOREACH (x->finished, e)
		exec_update_block(e);
	if (x->current)
		exec_update_block(x->current);
	blocks_replay_to_journal(x->blocks);
}

void exec_open(struct executor *x, bool adopted)
{
	const struct ring *ring = &x->pane->held.link.ring;
	x->script_fd = -1;
	if (!exec_is_possible(x))
		return;
	int fd = held_open_descriptor(&x->pane->held, WIRE_FIXED_FD_SCRIPT, O_RDWR);
	if (fd < 0) {
		x->all->callbacks->failed(
			x->user, "cannot open its script, so it cannot run commands", fd);
		return;
	}
	x->script_fd = fd;
	x->open = true;
	x->prompt = adopted ? EXEC_PROMPT_UNKNOWN : EXEC_PROMPT_NONE;
	x->startup_modes = EXEC_STARTUP_MODES_ALL;
	x->born_ms = exec_now(x);
	x->prompt_ms = exec_now(x);
	outline_init(&x->outline, x->nonce, stream_oldest(&ring->bytes), 0, EVENT_SOURCE_TERMINAL);
	x->past_offset = adopted ? stream_head(&ring->bytes) : 0;
	if (!adopted)
		return;
	exec_log_load(x);
	load_blocks(x);
}

static void forget_list(struct exec **list)
{
	struct exec *e, *next;
	DL_FOREACH_SAFE (*list, e, next) {
		DL_DELETE(*list, e);
		exec_forget(e);
	}
}

void exec_close(struct executor *x)
{
	int rc;
	if (!x->open)
		return;
	(void)exec_log_catch_up(x, &rc); /* this is the last try */
	x->open = false;
	look_cancel(&x->look);
	if (x->current)
		exec_finish(x->current, EXEC_END_LOST);
	while (x->queue)
		exec_finish(x->queue, EXEC_END_LOST);
	forget_list(&x->finished);
	shell_environment_answer(x);
	executors_remove_busy(x);
	free(x->held_input);
	x->held_input = NULL;
	x->held_input_length = 0;
	if (x->script_fd >= 0)
		close(x->script_fd);
	x->script_fd = -1;
}

/* How the current exec ended if its shell has. Nothing is certain if the holder was killed. */
static enum exec_end end_with_shell(const struct exec *e, bool status_known)
{
	if (status_known && e->state == EXEC_RUNNING)
		return EXEC_END_SHELL;
	if (status_known && exec_provably_not_started(e))
		return EXEC_END_NOT_STARTED;
	return EXEC_END_UNKNOWN;
}

void exec_shell_ended(struct executor *x)
{
	const struct pane *p = x->pane;
	struct exec *e = x->current;
	if (!x->open)
		return;
	if (e) {
		if (p->life.status_known)
			e->status = exec_status_of(p->life.status);
		e->over_offset = p->history.end_offset;
		if (!e->end_marked)
			e->end_offset = p->history.end_offset;
		e->ended_ms = p->life.exited_ms;
		exec_finish(e, end_with_shell(e, p->life.status_known));
	}
	while (x->queue)
		exec_finish(x->queue, EXEC_END_NOT_STARTED);
}

/* The tick */

static void tick_queue(struct executor *x)
{
	struct exec *e, *next;
	uint64_t now = exec_now(x);
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (e->queue_until_ms > 0 && now >= e->queue_until_ms)
			exec_finish(e, EXEC_END_BUSY);
	}
}

bool exec_is_behind(const struct executor *x)
{
	const struct ring *ring = &x->pane->held.link.ring;
	return stream_head(&ring->bytes) > x->outline.offset ||
		stream_head(&ring->events) > x->outline.position;
}

/*
 * Whether the time limit has passed. If the server itself was stopped, the ring may contain an
 * unread report of an earlier end: read that first, for at most EXEC_OVERDUE_MS.
 */
static bool is_overdue(struct exec *e)
{
	uint64_t now = exec_now(e->executor);
	if (e->deadline_ms == 0 || now < e->deadline_ms)
		return false;
	if (e->overdue_ms == 0)
		e->overdue_ms = now;
	return !exec_is_behind(e->executor) || now >= e->overdue_ms + EXEC_OVERDUE_MS;
}

static void tick_current(struct exec *e)
{
	uint64_t now = exec_now(e->executor);
	if (e->record_due_ms > 0 && now >= e->record_due_ms) {
		exec_finish(e, EXEC_END_PROMPT);
		return;
	}
	exec_input_tick(e);
	exec_unsealed_tick(e);
	if (e->state == EXEC_STARTING)
		exec_start_tick(e);
	if (e->state == EXEC_DONE) /* one of the calls above has ended it */
		return;
	if (is_overdue(e)) {
		e->deadline_ms = 0;
		e->timed_out = true;
		exec_cancel(e, 0, EXEC_GRACE_MS);
	} else if (e->cancelling == EXEC_CANCEL_SENDING) {
		exec_cancel_tick(e);
	} else if (e->interrupt_until_ms > 0) {
		exec_interrupt_tick(e);
	}
}

/* Release the held input if nothing that it waits for will happen any more. */
static void tick_held_input(struct executor *x)
{
	bool starting = exec_shell_is_starting(x) && exec_now(x) < x->born_ms + EXEC_STARTUP_MS;
	if (exec_now(x) >= x->hold_until_ms && !starting)
		exec_release_input(x);
}

void exec_tick(struct executor *x)
{
	if (x->current)
		tick_current(x->current);
	tick_held_input(x);
	exec_line_end_tick(x);
	tick_queue(x);
	exec_shell_tick(x);
	exec_undo_leftovers(x);
	exec_ask_sign(x);
	shell_environment_tick(x);
	exec_type_next(x);
	bool awaits_block = blocks_tick(x->blocks, exec_now(x));
	if (!awaits_block && !x->current && !x->queue && x->environment_due_ms == 0 &&
		x->held_input_length == 0 && !x->undo)
		executors_remove_busy(x);
}

/* Whether the terminal for e's standard error is open, or not needed. If not, request it. */
static bool has_terminals(struct executor *x, const struct exec *e)
{
	if (e->plan.streams != EXEC_TERMINALS || x->error_terminal[0])
		return true;
	if (!x->error_terminal_asked)
		x->error_terminal_asked = link_open_terminal(&x->pane->held.link) == 0;
	return false;
}

void exec_error_terminal_opened(struct executor *x, const char *path)
{
	struct exec *e, *next;
	x->error_terminal_asked = false;
	if (path)
		snprintf(x->error_terminal, sizeof x->error_terminal, "%s", path);
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (!path && e->plan.streams == EXEC_TERMINALS)
			exec_finish(e, EXEC_END_NOT_STARTED);
	}
	exec_type_next(x);
}

static void on_prompt_seen(void *user)
{
	exec_type_next(user);
}

/*
 * Whether the screen has parsed the prompt, so x->column is known. If not, exec_type_next() is called
 * again when it has.
 */
static bool is_prompt_seen(struct executor *x)
{
	if (x->look.state != LOOK_IDLE)
		return false;
	x->look = (struct look){.enough = x->prompt_offset ? x->prompt_offset : 1,
		.seen = on_prompt_seen,
		.user = x};
	return pane_look(x->pane, &x->look);
}

void exec_type_next(struct executor *x)
{
	while (x->open && !x->current && x->queue && exec_is_ready(x)) {
		struct exec *e = x->queue;
		if (!has_terminals(x, e) || !is_prompt_seen(x))
			return;
		DL_DELETE(x->queue, e);
		x->queue_count--;
		exec_release_claims(e);
		x->current = e;
		if (exec_type(e) < 0)
			exec_finish(e, EXEC_END_NOT_STARTED);
		else
			exec_hold_begin(e);
	}
}

bool executor_is_settled(const struct executor *x)
{
	const struct exec *e = x->current;
	if (x->queue || x->held_input_length > 0)
		return false;
	return !e || e->state == EXEC_DONE ||
		(e->state == EXEC_RUNNING && e->cancelling != EXEC_CANCEL_DUE &&
			e->cancelling != EXEC_CANCEL_SENDING);
}
