/*
 * End reports without proof: marks and records that name a command and lack its seal. Every program
 * of the same user can read the nonce and the id from the holder, and write them. Such a report
 * ends nothing: the server waits for the shell's own report, and the answer says `suspect`. Lines
 * that people type have no seal; there the kernel decides, as a shell cannot have reported the end
 * of what it still waits for.
 *
 * If the shell is at its prompt again and has not sent the seal, another program has read the seal
 * from the terminal. Then the last unsealed report counts, still as `suspect`. If there is none,
 * the end of the command is unknown.
 */
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/proc/foreground.h"

#include <string.h>

bool exec_shell_awaits_child(const struct executor *x, uint64_t time_ms)
{
	const struct foreground_target target = exec_foreground(x);
	return foreground_is_awaiting_child(&target, time_ms);
}

void exec_note_unsealed(struct exec *e, int status, uint64_t offset)
{
	e->suspect = true;
	if (status < 0)
		return;
	e->unsealed_ms = exec_now(e->executor);
	e->unsealed_status = status;
	e->unsealed_offset = offset;
	executors_add_busy(e->executor);
}

bool exec_mark_is_sealed(const struct exec *e, const struct mark *mark)
{
	return seal_matches(&e->seal, SEAL_MARK, mark->seal);
}

bool exec_record_is_sealed(const struct exec *e, const struct record *record)
{
	return seal_matches(&e->seal, SEAL_RECORD, record->seal);
}

/* The deferred end mark takes effect. */
static void apply_deferred_mark(struct executor *x)
{
	const struct mark mark = {.kind = MARK_END,
		.start = x->deferred_mark.start,
		.end = x->deferred_mark.end,
		.status = x->deferred_mark.status};
	x->deferred_mark = (struct exec_deferred_mark){0};
	blocks_handle_mark(x->blocks, &mark, clock_wall_ms(), false);
}

/* Whether the line of a person may still run. (Or a hook does; the record has the time.) */
static bool may_still_run(const struct executor *x)
{
	const struct block *running = blocks_running(x->blocks);
	return running && !running->exec[0] && x->entered == 0 &&
		exec_shell_awaits_child(x, clock_wall_ms());
}

bool exec_defer_line_end(struct executor *x, const struct mark *mark)
{
	if (x->current || mark->end <= x->past_offset)
		return false;
	if (mark->kind == MARK_END && may_still_run(x)) {
		x->deferred_mark = (struct exec_deferred_mark){mark->start, mark->end, mark->status};
		return true;
	}
	if (x->deferred_mark.end == 0)
		return false;
	if (mark->kind == MARK_END) {
		if (mark->status != x->deferred_mark.status)
			blocks_mark_suspect(x->blocks);
		x->deferred_mark = (struct exec_deferred_mark){0};
	} else if (mark->kind == MARK_INPUT && !may_still_run(x)) {
		apply_deferred_mark(x);
	} else if (mark->kind == MARK_START) {
		if (!x->deferred_mark.claimed)
			apply_deferred_mark(x);
		x->deferred_mark = (struct exec_deferred_mark){0};
	}
	return false;
}

bool exec_refute_line_end(struct executor *x, uint64_t time_ms)
{
	if (x->deferred_mark.end == 0 && !blocks_is_awaiting_record(x->blocks))
		return false;
	/* A line that has been entered may already be running. */
	if (x->current || x->entered > 0 || !exec_shell_awaits_child(x, time_ms)) {
		if (x->deferred_mark.end > 0)
			apply_deferred_mark(x);
		return false;
	}
	x->deferred_mark.claimed = true;
	blocks_mark_suspect(x->blocks);
	return true;
}

void exec_line_end_tick(struct executor *x)
{
	uint64_t *due_ms = &x->blocks->record_due_ms, now = exec_now(x);
	if (*due_ms > 0 && now >= *due_ms &&
		exec_refute_line_end(x, clock_wall_ms() - RECORD_WAIT_MS))
		*due_ms = now + RECORD_WAIT_MS;
}

void exec_unsealed_tick(struct exec *e)
{
	struct executor *x = e->executor;
	uint64_t now = exec_now(x);
	bool claimed = e->unsealed_ms > 0;
	if (claimed ? now < e->unsealed_ms + EXEC_RECORD_MS
		    : e->state != EXEC_RUNNING || now < x->prompt_ms + EXEC_MUTE_MS)
		return;
	bool prompted = x->prompt == EXEC_PROMPT_READY && now >= x->prompt_ms + EXEC_RECORD_MS;
	/* The command was interrupted and the shell reads keys: its prompt has lost its marks. */
	bool mute = e->interrupted && now >= x->prompt_ms + EXEC_MUTE_MS &&
		exec_shell_awaits_keys(x);
	if (!(prompted || mute) || !exec_shell_is_foreground(x) || !exec_shell_reads_keys(x) ||
		exec_shell_awaits_child(x, UINT64_MAX))
		return;
	if (!claimed) {
		exec_finish(e, EXEC_END_UNKNOWN);
		return;
	}
	if (!e->end_marked) {
		e->status = e->unsealed_status;
		e->end_offset = e->unsealed_offset;
	}
	e->over_offset = x->prompt_offset;
	exec_finish(e, EXEC_END_PROMPT);
}
