/*
 * See shell_environment.h. The shell writes a file and sends a state record. Without that record in
 * time, or while the shell is not at its prompt, the waiters get what the shell exported at its
 * last prompt, or nothing.
 */
#include "shell/exec/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define ENVIRONMENT_MAX ((size_t)4 << 20)

/* The file that the shell has written. Owned by the caller; NULL when there is none. */
static char *read_environment(const struct executor *x, size_t *ret_length)
{
	struct stat st;
	/* Programs in the session can replace it, so opening it must not block. */
	int fd = held_open_descriptor(&x->pane->held, WIRE_FIXED_FD_STATE, O_RDONLY);
	if (fd < 0)
		return NULL;
	size_t size = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
	char *text = size > 0 && size <= ENVIRONMENT_MAX ? malloc(size + 1) : NULL;
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

static void answer_waiters(struct executor *x)
{
	char cwd[PATH_MAX];
	size_t length = 0;
	char *text = read_environment(x, &length);
	ssize_t known = exec_shell_directory(x, cwd, sizeof cwd);
	while (x->environment_waiters) {
		struct shell_environment_waiter *w = x->environment_waiters;
		DL_DELETE(x->environment_waiters, w);
		w->done(w->user, known == 0 ? NULL : cwd, text ? text : "", length);
	}
	free(text);
	x->environment_due_ms = 0;
	x->environment_asked = false;
}

static void ask_shell(struct executor *x)
{
	static const char key[] = INTEGRATION_STATE;
	if (exec_type_key(x, key, sizeof key - 1) < 0) {
		answer_waiters(x);
		return;
	}
	x->environment_asked = true;
	x->environment_due_ms = exec_now(x) + EXEC_RECORD_MS;
}

void shell_environment_ask(struct executor *x, struct shell_environment_waiter *w)
{
	DL_APPEND(x->environment_waiters, w);
	if (x->environment_due_ms > 0)
		return;
	if (!x->open || (exec_is_busy(x) && !exec_is_ready(x))) {
		answer_waiters(x); /* what it exported at its last prompt */
		return;
	}
	x->environment_due_ms = exec_now(x) +
		(exec_shell_has_marks(x) ? EXEC_RECORD_MS : EXEC_PROMPT_MS);
	executors_add_busy(x);
	shell_environment_at_prompt(x);
}

void shell_environment_at_prompt(struct executor *x)
{
	if (x->environment_due_ms > 0 && !x->environment_asked && exec_is_ready(x))
		ask_shell(x);
}

void shell_environment_answer(struct executor *x)
{
	if (x->environment_due_ms > 0)
		answer_waiters(x);
}

void shell_environment_tick(struct executor *x)
{
	shell_environment_at_prompt(x);
	if (x->environment_due_ms > 0 && exec_now(x) >= x->environment_due_ms)
		answer_waiters(x);
}
