/*
 * The state of a session's shell for a command that runs beside it: where it is and what it exports, and at its
 * prompt its functions and aliases. Nothing is written back.
 */
#include "shell/exec/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define STATE_MAX ((size_t)4 << 20)

/* What the shell has written. Owned by the caller; NULL when there is none. */
static char *read_state(const struct executor *x, size_t *ret_length)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", x->pane->held.link.info.holder_pid,
		WIRE_PLACE_STATE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size_t size = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
	char *text = size > 0 && size <= STATE_MAX ? malloc(size + 1) : NULL;
	ssize_t n = text ? pread(fd, text, size, 0) : -1;
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*ret_length = (size_t)n;
	return text;
}

static void answer(struct executor *x)
{
	char path[64], cwd[PATH_MAX];
	size_t length = 0;
	char *text = read_state(x, &length);
	snprintf(path, sizeof path, "/proc/%d/cwd", x->pane->held.link.info.shell_pid);
	ssize_t n = readlink(path, cwd, sizeof cwd - 1);
	cwd[n > 0 ? n : 0] = '\0';
	while (x->state_waiters) {
		struct exec_state_waiter *w = x->state_waiters;
		DL_DELETE(x->state_waiters, w);
		w->done(w->user, n > 0 ? cwd : NULL, text ? text : "", length);
	}
	free(text);
	x->state_due_ms = 0;
	x->state_asked = false;
}

/* At its prompt the shell can write down its functions and aliases as well. */
static void ask(struct executor *x)
{
	static const char key[] = INTEGRATION_STATE;
	if (link_write(&x->pane->held.link, key, sizeof key - 1) < 0) {
		answer(x);
		return;
	}
	x->state_asked = true;
	x->state_due_ms = exec_now(x) + EXEC_RECORD_MS;
}

void exec_state(struct executor *x, struct exec_state_waiter *w)
{
	DL_APPEND(x->state_waiters, w);
	if (x->state_due_ms > 0)
		return;
	if (!x->open || (exec_busy(x) && !exec_is_ready(x))) {
		answer(x); /* what it exported at its last prompt */
		return;
	}
	x->state_due_ms = exec_now(x) +
		(x->prompt == EXEC_PROMPT_NONE ? EXEC_PROMPT_MS : EXEC_RECORD_MS);
	executors_attend(x);
	exec_state_at_prompt(x);
}

void exec_state_at_prompt(struct executor *x)
{
	if (x->state_due_ms > 0 && !x->state_asked && exec_is_ready(x))
		ask(x);
}

void exec_state_told(struct executor *x)
{
	if (x->state_due_ms > 0)
		answer(x);
}

void exec_state_tick(struct executor *x)
{
	exec_state_at_prompt(x);
	if (x->state_due_ms > 0 && exec_now(x) >= x->state_due_ms)
		answer(x);
}
