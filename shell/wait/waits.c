/*
 * Looks at all waits of a session when output has come, an event has happened, or a time has come. A look first finds the
 * waits that are over, then calls their waiters, because a waiter may begin waits, leave them, or delete the session.
 */
#include "shell/wait/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

static void arm_timer(struct waits *h);

void waits_on_worker_back(struct waits *h)
{
	struct wait *w, *next;
	DL_FOREACH_SAFE (h->all, w, next) {
		if (w->over)
			wait_free_patterns(w);
		if (w->forgotten) {
			DL_DELETE(h->all, w);
			wait_destroy(w);
		}
	}
	waits_look(h);
}

/* Whether a condition of w may become true although the session has ended. */
static bool may_become_true(const struct waits *h, const struct wait *w)
{
	for (unsigned i = 0; i < w->count; i++)
		if (wait_can_become_true(h, w, &w->conditions[i]))
			return true;
	return false;
}

/* Whether a pattern has more output to read, or a match that may be typed text. */
static bool is_unfinished(const struct waits *h, const struct awaited *c)
{
	return c->finder && !c->lent &&
		(c->finder->found || finder_offset(c->finder) < wait_head(h));
}

/* Whether the conditions of w lag behind the output. more: patterns have not been fed all of it. */
static bool is_late(const struct wait *w, bool more)
{
	for (unsigned i = 0; i < w->count; i++) {
		const struct awaited *c = &w->conditions[i];
		if ((more && c->finder) || c->queued || is_unfinished(w->waits, c))
			return true;
	}
	return false;
}

/* No condition is true. End w at its timeout, or with the session. */
static void check_timeout(struct waits *h, struct wait *w, bool more)
{
	uint64_t last = w->deadline_ms + (is_late(w, more) ? WAIT_LATE_MS : 0);
	if (h->now >= last) {
		wait_end(w, -1, WAIT_EXIT);
		w->result.timed_out = true;
	} else if (h->pane->life.exited && !may_become_true(h, w)) {
		wait_end(w, -1, WAIT_EXIT);
	} else if (last < h->due) {
		h->due = last;
	}
}

static void look_at_wait(struct waits *h, struct wait *w, bool more)
{
	for (unsigned i = 0; i < w->count && !w->over; i++)
		wait_check(h, w, i);
	if (!w->over)
		check_timeout(h, w, more);
	if (w->over)
		wait_settle(w);
}

/* Whether no request can get the result of w any more. */
static bool is_obsolete(const struct waits *h, const struct wait *w)
{
	if (w->waiters)
		return false;
	return !w->key[0] ||
		(w->over &&
			(h->now >= w->kept_until_ms || h->kept[wait_is_by_link(w)] > WAITS_KEPT_MAX));
}

static void sweep_waits(struct waits *h)
{
	struct wait *w, *next;
	DL_FOREACH_SAFE (h->all, w, next) {
		if (w->forgotten)
			continue;
		if (w->over && w->key[0] && w->kept_until_ms < h->due)
			h->due = w->kept_until_ms;
		if (is_obsolete(h, w))
			wait_forget(w);
	}
}

void waits_look(struct waits *h)
{
	struct wait *w;
	if (h->looking)
		return; /* called from inside a waiter */
	h->looking = true;
	h->now = pane_now(h->pane);
	h->due = WAIT_NEVER;
	h->sampled = false;
	wait_note_rows(h);
	bool more = wait_feed(h);
	DL_FOREACH (h->all, w)
		if (!w->over)
			look_at_wait(h, w, more);
	/* Waiters may leave and begin waits; none is freed meanwhile, see wait_leave(). */
	DL_FOREACH (h->all, w)
		if (w->over && !w->forgotten)
			wait_answer_waiters(w);
	h->looking = false;
	if (h->closed)
		return; /* a waiter has deleted the session */
	sweep_waits(h);
	if (more && !h->lent)
		h->look_soon(h->user);
	arm_timer(h);
}

static void on_timer(uv_timer_t *timer)
{
	struct waits *h = timer->data;
	const struct pane *p = h->pane;
	/* Timers fire first after a delay of the loop: read pending output before judging. */
	if (p->history_open && pane_head(p) != p->history.scan.offset)
		h->look_soon(h->user); /* waits_check_all() comes after it */
	else
		waits_look(h);
}

static void arm_timer(struct waits *h)
{
	if (h->due == WAIT_NEVER)
		uv_timer_stop(&h->timer);
	else
		uv_timer_start(&h->timer, on_timer, h->due > h->now ? h->due - h->now : 0, 0);
}

void waits_check_all(struct waits *h)
{
	if (h && h->pending > 0)
		waits_look(h);
}

bool waits_are_pending(const struct waits *h)
{
	return h && h->pending > 0;
}

void waits_check_soon(struct waits *h)
{
	if (h && h->looking)
		h->due = 0;
	else if (h && h->pending > 0)
		uv_timer_start(&h->timer, on_timer, 0, 0);
}

static void on_closed(uv_handle_t *handle)
{
	struct waits *h = handle->data;
	struct wait *w, *next;
	DL_FOREACH_SAFE (h->all, w, next) {
		DL_DELETE(h->all, w);
		wait_destroy(w);
	}
	free(h);
}

static void call_gone(struct wait *w)
{
	while (w->waiters) {
		struct wait_waiter *waiter = w->waiters;
		DL_DELETE(w->waiters, waiter);
		waiter->wait = NULL;
		waiter->gone(waiter->user);
	}
}

/* A waiter may call this during a look, so the waits are freed later. */
void waits_close(struct waits *h)
{
	struct wait *w;
	if (!h)
		return;
	h->looking = true;
	DL_FOREACH (h->all, w) {
		call_gone(w);
		claim_release(&w->claim);
	}
	if (h->lent) {
		workers_cancel(h->pane->screening.workers, &h->work_item);
		h->lent = false; /* all is freed in on_closed() */
	}
	h->closed = true;
	uv_close((uv_handle_t *)&h->timer, on_closed);
}

int waits_create(const struct waits_options *o, struct waits **ret_waits)
{
	struct waits *h = calloc(1, sizeof *h);
	if (!h)
		return -ENOMEM;
	h->pane = o->pane;
	h->executor = o->executor;
	h->shared = o->shared;
	h->look_soon = o->look_soon;
	h->user = o->user;
	h->timer.data = h;
	uv_timer_init(o->shared->loop, &h->timer);
	*ret_waits = h;
	return 0;
}
