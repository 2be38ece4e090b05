/* Requests that are answered later. States: open -> closing (taken or ended) -> closed. */
#include "ws/api/later/pending.h"

#include <stdlib.h>

void pending_open(struct pending *p, uv_loop_t *loop, struct request *r, void *user,
	void (*closed)(void *user))
{
	*p = (struct pending){.request = request_ref(r), .user = user, .closed = closed};
	uv_timer_init(loop, &p->timer);
	p->timer.data = p;
}

static void on_pending_due(uv_timer_t *timer)
{
	struct pending *p = timer->data;
	p->due(p->user);
}

void pending_after(struct pending *p, uint64_t ms, void (*due)(void *user))
{
	p->due = due;
	uv_timer_start(&p->timer, on_pending_due, ms, 0);
}

static void on_pending_closed(uv_handle_t *handle)
{
	struct pending *p = handle->data;
	if (p->closed)
		p->closed(p->user);
	else
		free(p->user);
}

struct request *pending_take(struct pending *p)
{
	struct request *r = p->request;
	if (r)
		uv_close((uv_handle_t *)&p->timer, on_pending_closed);
	p->request = NULL;
	return r;
}

void pending_end(struct pending *p)
{
	struct request *r = pending_take(p);
	if (r)
		request_unref(r);
}
