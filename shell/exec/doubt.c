/*
 * A command was typed, and the shell does not tell of it: it may be stopped, or busy, or no longer the shell that it
 * was. The script is taken back, so that it cannot be run any more, and the shell is asked for a sign: the key that
 * makes it tell its state, which it meets behind all that was typed before. A sign, and no record of a start ahead of
 * it, is the proof that nothing was run. Without one nobody knows, and that is said. Until there is one nothing else
 * is typed, for the keys of the old command would run the script of the next.
 */
#include "shell/exec/internal.h"

#include <string.h>
#include <unistd.h>

/* What may already be in the shell's memory stays there; the header is for the next server. */
static void take_back_script(struct exec *e)
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
	if (!x->unanswered || x->sign_asked || !x->pane->life.runs || !exec_shell_in_front(x) ||
		!exec_shell_reads_keys(x))
		return;
	x->sign_asked = exec_type_key(x, key, sizeof key - 1) == 0;
	/* The answer to one that was asked before is no sign. */
	if (x->sign_asked && x->signs_due == 0)
		x->signs_due = x->environment_asked ? 2 : 1;
}

bool exec_was_not_started(const struct exec *e)
{
	return e->state == EXEC_QUEUED ||
		(e->state == EXEC_STARTING && !e->start_marked && !e->unsure &&
			e->events_lost == e->executor->outline.events_lost);
}

void exec_sign(struct executor *x)
{
	struct exec *e = x->current;
	if (!x->unanswered || x->signs_due == 0 || --x->signs_due > 0)
		return;
	exec_answered(x);
	if (e && e->state == EXEC_STARTING)
		exec_finish(e, exec_was_not_started(e) ? EXEC_END_NOT_STARTED : EXEC_END_UNKNOWN);
}

void exec_answered(struct executor *x)
{
	x->unanswered = x->sign_asked = false;
	x->signs_due = 0;
}

void exec_doubt_tick(struct exec *e)
{
	struct executor *x = e->executor;
	uint64_t now = exec_now(x);
	if (now < e->typed_ms + EXEC_START_MS)
		return;
	if (!x->unanswered) {
		take_back_script(e);
		x->unanswered = true;
		e->doubted_ms = now;
	}
	exec_ask_sign(x);
	if (now >= e->doubted_ms + EXEC_SIGN_MS)
		exec_finish(e, EXEC_END_UNKNOWN);
}
