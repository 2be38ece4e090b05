/*
 * Claims: marks and records that name a command and do not come from its shell. Every program of the same user can find the
 * nonce and the id in the holder and write them. A claim ends nothing: what the shell tells is waited for, and the answer
 * then says that somebody has claimed otherwise (suspect). Whose it is, its seal tells; of lines that people have typed, which
 * have none, the kernel does: the shell cannot have told what it still waits for.
 *
 * When the shell is at its prompt again, and has proven nothing, its seal has been lost on its way: somebody else has read
 * the terminal. Then what has been claimed last is all there is, and that is said as well. Where nobody has claimed anything
 * the shell cannot tell any more, and how the command has ended nobody knows.
 */
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/proc/foreground.h"

#include <string.h>

bool exec_awaits_child(const struct executor *x, uint64_t time_ms)
{
	const struct foreground_target target = exec_foreground(x);
	return foreground_awaits(&target, time_ms);
}

void exec_note_claim(struct exec *e, int status, uint64_t offset)
{
	e->suspect = true;
	if (status < 0)
		return;
	e->claimed_ms = exec_now(e->executor);
	e->claimed_status = status;
	e->claimed_offset = offset;
	executors_attend(e->executor);
}

bool exec_believes_mark(const struct exec *e, const struct mark *mark)
{
	return seal_fits(&e->seal, SEAL_MARK, mark->seal);
}

bool exec_believes_record(const struct exec *e, const struct record *record)
{
	return seal_fits(&e->seal, SEAL_RECORD, record->seal);
}

/* What was set aside is true. */
static void take_line(struct executor *x)
{
	const struct mark mark = {.kind = MARK_END,
		.start = x->aside.start,
		.end = x->aside.end,
		.status = x->aside.status};
	x->aside = (struct exec_aside){0};
	blocks_mark(x->blocks, &mark, clock_wall_ms(), false);
}

/* Its end is told, and perhaps a hook of the prompt runs already: when that was will be told by the record. */
static bool is_doubtful(const struct executor *x)
{
	const struct block *running = blocks_running(x->blocks);
	return running && !running->exec[0] && x->entered == 0 &&
		exec_awaits_child(x, clock_wall_ms());
}

bool exec_sets_aside(struct executor *x, const struct mark *mark)
{
	if (x->current || mark->end <= x->past_offset)
		return false;
	if (mark->kind == MARK_END && is_doubtful(x)) {
		x->aside = (struct exec_aside){mark->start, mark->end, mark->status};
		return true;
	}
	if (x->aside.end == 0)
		return false;
	if (mark->kind == MARK_END) {
		if (mark->status != x->aside.status)
			blocks_doubt(x->blocks);
		x->aside = (struct exec_aside){0};
	} else if (mark->kind == MARK_INPUT && !is_doubtful(x)) {
		take_line(x);
	} else if (mark->kind == MARK_START) {
		if (!x->aside.claimed)
			take_line(x);
		x->aside = (struct exec_aside){0};
	}
	return false;
}

bool exec_claims_line(struct executor *x, uint64_t time_ms)
{
	if (x->aside.end == 0 && !blocks_awaits_record(x->blocks))
		return false;
	/* A line that waits to be read may already be running. */
	if (x->current || x->entered > 0 || !exec_awaits_child(x, time_ms)) {
		if (x->aside.end > 0)
			take_line(x);
		return false;
	}
	x->aside.claimed = true;
	blocks_doubt(x->blocks);
	return true;
}

void exec_claim_line_tick(struct executor *x)
{
	uint64_t *due_ms = &x->blocks->due_ms, now = exec_now(x);
	if (*due_ms > 0 && now >= *due_ms && exec_claims_line(x, clock_wall_ms() - RECORD_WAIT_MS))
		*due_ms = now + RECORD_WAIT_MS;
}

void exec_claim_tick(struct exec *e)
{
	struct executor *x = e->executor;
	uint64_t now = exec_now(x);
	bool claimed = e->claimed_ms > 0;
	if (claimed ? now < e->claimed_ms + EXEC_RECORD_MS
		    : e->state != EXEC_RUNNING || now < x->prompt_ms + EXEC_MUTE_MS)
		return;
	bool prompted = x->prompt == EXEC_PROMPT_READY && now >= x->prompt_ms + EXEC_RECORD_MS;
	/* It has been interrupted, and the shell reads keys: a prompt whose marks have been taken away. */
	bool mute = e->interrupted && now >= x->prompt_ms + EXEC_MUTE_MS &&
		exec_shell_awaits_keys(x);
	if (!(prompted || mute) || !exec_shell_in_front(x) || !exec_shell_reads_keys(x) ||
		exec_awaits_child(x, UINT64_MAX))
		return;
	if (!claimed) {
		exec_finish(e, EXEC_END_UNKNOWN);
		return;
	}
	if (!e->end_marked) {
		e->status = e->claimed_status;
		e->end_offset = e->claimed_offset;
	}
	e->over_offset = x->prompt_offset;
	e->state = EXEC_RUNNING; /* it was, whether there was a record of that or not */
	exec_finish(e, EXEC_END_PROMPT);
}
