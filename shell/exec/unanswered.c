/*
 * A command was typed and the shell does not report its start: the shell may be stopped, busy, or
 * replaced. The server empties the script, so that it cannot be run any more, and types the key
 * that makes the shell send its state record, the sign. The shell reads that key behind all that
 * was typed before, so a sign without a start record ahead of it proves that nothing was run.
 * Without a sign the result is unknown. Nothing else is typed before the sign, because the keys of
 * the old command would run the script of the next one.
 */
#include "shell/exec/internal.h"

#include <string.h>
#include <unistd.h>

/* Truncate the script behind its header. The shell may have read it already. */
static void empty_script(struct exec *e)
{
	char text[4096];
	struct executor *x = e->executor;
	off_t length = 0;
	ssize_t n;
	while ((n = pread(x->script_fd, text, sizeof text, length)) > 0) {
		const char *end = memchr(text, '\n', (size_t)n);
		length += end ? end - text + 1 : n;
		if (end)
			break;
	}
	if (ftruncate(x->script_fd, length) < 0)
		e->unsure = true;
}

void exec_ask_sign(struct executor *x)
{
	static const char key[] = INTEGRATION_STATE;
	if (x->sign != EXEC_SIGN_DUE || !x->pane->life.runs || !exec_shell_is_foreground(x) ||
		!exec_shell_reads_keys(x) || exec_type_key(x, key, sizeof key - 1) < 0)
		return;
	x->sign = EXEC_SIGN_ASKED;
	/* If the environment was requested before, the first state record answers that. */
	if (x->signs_due == 0)
		x->signs_due = x->environment_asked ? 2 : 1;
}

bool exec_provably_not_started(const struct exec *e)
{
	return e->state == EXEC_QUEUED ||
		(e->state == EXEC_STARTING && !e->start_marked && !e->unsure &&
			e->events_lost == e->executor->outline.events_lost);
}

void exec_note_sign(struct executor *x)
{
	struct exec *e = x->current;
	if (x->signs_due == 0 || --x->signs_due > 0)
		return;
	exec_clear_unanswered(x);
	if (e && e->state == EXEC_STARTING)
		exec_finish(
			e, exec_provably_not_started(e) ? EXEC_END_NOT_STARTED : EXEC_END_UNKNOWN);
}

void exec_clear_unanswered(struct executor *x)
{
	x->sign = EXEC_SIGN_NONE;
	x->signs_due = 0;
}

void exec_start_tick(struct exec *e)
{
	struct executor *x = e->executor;
	uint64_t now = exec_now(x);
	if (now < e->typed_ms + EXEC_START_MS)
		return;
	if (x->sign == EXEC_SIGN_NONE) {
		empty_script(e);
		x->sign = EXEC_SIGN_DUE;
		e->sign_asked_ms = now;
	}
	exec_ask_sign(x);
	if (now >= e->sign_asked_ms + EXEC_SIGN_MS)
		exec_finish(e, EXEC_END_UNKNOWN);
}
