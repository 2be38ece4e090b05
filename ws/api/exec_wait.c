#include "ws/api/exec_wait.h"

#include "shell/session/session.h"
#include "ws/api/refuse.h"

#include <errno.h>
#include <stdlib.h>

struct wait {
	struct exec_wait_options options;
	struct request *request;
	struct exec *exec; /* NULL once it is not watched any more */
	struct exec_watcher watcher;
	uv_timer_t timer;
};

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* The end of waiting; w is freed later. */
static void end(struct wait *w, bool answer)
{
	struct request *r = w->request;
	struct exec *e = w->exec;
	if (!r)
		return;
	w->request = NULL;
	w->exec = NULL;
	if (answer)
		w->options.done(w->options.user, r, e);
	else
		reply_error(r, "SESSION_DESTROYED", "The session has been deleted", NULL);
	request_unref(r);
	uv_close((uv_handle_t *)&w->timer, on_timer_closed);
}

/* Whether a page is there. One of more than half a ring would never be: its writer may wait for that it is read. */
static bool has_page(const struct exec_wait_options *o, const struct exec *e)
{
	uint64_t half = session_bytes(session_of_exec(e))->size / 2;
	uint64_t from = o->from > e->start ? o->from : e->start;
	return o->bytes > 0 && e->state == EXEC_RUNNING && e->start_marked &&
		exec_readable(e) >= from + (o->bytes < half ? o->bytes : half);
}

static bool is_over(const struct wait *w, const struct exec *e)
{
	return e->state == EXEC_DONE || has_page(&w->options, e) ||
		(w->options.until_unkillable && e->unkillable);
}

static void on_changed(void *user, struct exec *e)
{
	struct wait *w = user;
	if (!w->request || !is_over(w, e))
		return;
	w->exec = e; /* it may be over before it is known to us */
	exec_unwatch(e, &w->watcher);
	end(w, true);
}

static void on_gone(void *user)
{
	end(user, false);
}

static void on_timer(uv_timer_t *timer)
{
	struct wait *w = timer->data;
	if (!w->request)
		return;
	exec_unwatch(w->exec, &w->watcher);
	end(w, true);
}

static struct wait *create(struct request *r, const struct exec_wait_options *options)
{
	struct wait *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->options = *options;
	w->request = request_ref(r);
	w->watcher = (struct exec_watcher){.changed = on_changed, .gone = on_gone, .user = w};
	w->timer.data = w;
	uv_timer_init(options->loop, &w->timer);
	return w;
}

/* It is watched already. */
static void begin(struct wait *w, struct exec *e)
{
	w->exec = e;
	if (is_over(w, e))
		on_changed(w, e);
	else if (w->options.limited)
		uv_timer_start(&w->timer, on_timer, w->options.limit_ms, 0);
}

void exec_wait(struct request *r, struct exec *e, const struct exec_wait_options *options)
{
	struct wait *w = create(r, options);
	if (!w) {
		refuse_memory(r);
		return;
	}
	exec_watch(e, &w->watcher);
	begin(w, e);
}

int exec_wait_start(struct request *r, struct session *s, const struct exec_options *command,
	const struct exec_wait_options *options, struct exec **ret_exec)
{
	struct wait *w = create(r, options);
	if (!w)
		return -ENOMEM;
	int rc = exec_start(s, command, &w->watcher, ret_exec);
	if (rc < 0) {
		w->request = NULL;
		request_unref(r);
		uv_close((uv_handle_t *)&w->timer, on_timer_closed);
	} else if (w->request) { /* it may have been answered already */
		begin(w, *ret_exec);
	}
	return rc;
}
