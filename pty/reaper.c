/* Signals coalesce, so each SIGCHLD checks every child. */
#include "pty/reaper.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static void on_signal(uv_signal_t *signal, int signo)
{
	struct reaper *r = signal->data;
	(void)signo;
	for (size_t i = 0; i < r->count;) {
		if (waitpid(r->pids[i], NULL, WNOHANG) != 0)
			r->pids[i] = r->pids[--r->count];
		else
			i++;
	}
}

int reaper_open(struct reaper *r, uv_loop_t *loop)
{
	*r = (struct reaper){0};
	int rc = uv_signal_init(loop, &r->signal);
	if (rc < 0)
		return rc;
	r->signal.data = r;
	rc = uv_signal_start(&r->signal, on_signal, SIGCHLD);
	uv_unref((uv_handle_t *)&r->signal);
	return rc;
}

int reaper_reserve(struct reaper *r)
{
	if (r->count < r->capacity)
		return 0;
	size_t capacity = r->capacity ? r->capacity * 2 : 16;
	pid_t *pids = realloc(r->pids, capacity * sizeof *pids);
	if (!pids)
		return -ENOMEM;
	r->pids = pids;
	r->capacity = capacity;
	return 0;
}

void reaper_add(struct reaper *r, pid_t pid)
{
	assert(r->count < r->capacity);
	r->pids[r->count++] = pid;
	on_signal(&r->signal, SIGCHLD); /* it may have ended before it was added */
}

void reaper_close(struct reaper *r)
{
	uv_close((uv_handle_t *)&r->signal, NULL);
	free(r->pids);
	r->pids = NULL;
	r->count = r->capacity = 0;
}
