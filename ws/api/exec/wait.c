/*
 * A request waits until its exec is done, a page of output can be read, the time is up, or the exec is discarded. The
 * first of these answers the request.
 */
#include "ws/api/exec/wait.h"

#include "shell/session/session.h"
#include "ws/api/later/pending.h"
#include "ws/api/read/refuse.h"

#include <errno.h>
#include <stdlib.h>

struct exec_wait {
	struct exec_wait_options options;
	struct pending pending;
	struct exec *exec; /* NULL while it is not watched */
	struct exec_watcher watcher;
	uint64_t began_ms; /* loop time */
};

bool exec_wait_claim(struct access *a, struct request *r, struct exec_options *options)
{
	const struct access_amount want[ACCESS_PLACES] = {{QUOTA_COMMANDS, 1}};
	return access_claim_for(a, r, want, &options->claim);
}

/* Stop waiting and answer. w is freed later. */
static void end_wait(struct exec_wait *w, bool answer)
{
	struct request *r = pending_take(&w->pending);
	struct exec *e = w->exec;
	if (!r)
		return;
	r->gone = NULL;
	w->exec = NULL;
	if (answer)
		w->options.done(w->options.user, r, e);
	else
		reply_error(r, "SESSION_DESTROYED", "The session has been deleted", NULL);
	request_unref(r);
}

/* A page is at most half a ring: the command's output may be paused until some of it is read. */
static bool has_page(const struct exec_wait_options *o, const struct exec *e)
{
	uint64_t half = session_bytes(session_of_exec(e))->size / 2;
	uint64_t from = o->from > e->start ? o->from : e->start;
	return o->bytes > 0 && e->state == EXEC_RUNNING && e->start_marked &&
		exec_readable(e) >= from + (o->bytes < half ? o->bytes : half);
}

static bool is_over(const struct exec_wait *w, const struct exec *e)
{
	return e->state == EXEC_DONE || has_page(&w->options, e) ||
		(w->options.until_unkillable && e->cancelling == EXEC_CANCEL_FAILED);
}

static void on_changed(void *user, struct exec *e)
{
	struct exec_wait *w = user;
	if (!w->pending.request || !is_over(w, e))
		return;
	w->exec = e; /* may be unset if called from inside exec_start() */
	exec_unwatch(e, &w->watcher);
	end_wait(w, true);
}

static void on_gone(void *user)
{
	end_wait(user, false);
}

/* The client has disconnected. The command continues. */
static void on_client_gone(void *user)
{
	struct exec_wait *w = user;
	if (w->exec)
		exec_unwatch(w->exec, &w->watcher);
	w->exec = NULL;
	pending_end(&w->pending);
}

/* The command is on disk, and runs once: another server is asked for its result. */
static bool on_repeat(void *user, struct request_repeat *ret_repeat)
{
	const struct exec_wait *w = user;
	const struct exec_wait_options *o = &w->options;
	uint64_t now = uv_now(o->loop), until = w->began_ms + o->limit_ms;
	uint64_t left_ms = !o->limited ? EXEC_TIME_MAX_MS : until > now ? until - now : 0;
	if (!w->exec || w->exec->state != EXEC_RUNNING)
		return false;
	if (!ret_repeat)
		return true;
	ret_repeat->method = "GET";
	ret_repeat->target = o->target(o->user, w->exec, left_ms);
	return ret_repeat->target != NULL;
}

static void on_time_up(void *user)
{
	struct exec_wait *w = user;
	exec_unwatch(w->exec, &w->watcher);
	end_wait(w, true);
}

static struct exec_wait *create_wait(struct request *r, const struct exec_wait_options *options)
{
	struct exec_wait *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->options = *options;
	w->began_ms = uv_now(options->loop);
	w->watcher = (struct exec_watcher){.changed = on_changed, .gone = on_gone, .user = w};
	pending_open(&w->pending, options->loop, r, w, NULL);
	return w;
}

/* e is already watched. */
static void begin_wait(struct exec_wait *w, struct exec *e)
{
	struct request *r = w->pending.request;
	r->gone = on_client_gone;
	r->gone_user = w;
	r->repeat = w->options.target ? on_repeat : NULL;
	w->exec = e;
	if (is_over(w, e))
		on_changed(w, e);
	else if (w->options.limited)
		pending_after(&w->pending, w->options.limit_ms, on_time_up);
}

void exec_wait(struct request *r, struct exec *e, const struct exec_wait_options *options)
{
	struct exec_wait *w = create_wait(r, options);
	if (!w) {
		refuse_memory(r);
		return;
	}
	exec_watch(e, &w->watcher);
	begin_wait(w, e);
}

int exec_wait_start(struct request *r, struct session *s, const struct exec_options *command,
	const struct exec_wait_options *options, struct exec **ret_exec)
{
	struct exec_wait *w = create_wait(r, options);
	if (!w)
		return -ENOMEM;
	int rc = exec_start(session_executor(s), command, &w->watcher, ret_exec);
	if (rc < 0) {
		pending_end(&w->pending);
	} else if (w->pending.request) { /* may already be answered */
		begin_wait(w, *ret_exec);
	}
	return rc;
}
