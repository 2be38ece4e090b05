/*
 * Holding the ring for those who read all of a command's output as it comes (ring/holds.h). A reader comes after
 * the command has been asked for, and comes again when its connection has broken: for that while the exec itself
 * holds what it will want.
 */
#include "shell/exec_internal.h"

#include <uv.h>

static struct link *link_of(const struct exec *e)
{
	return &e->executor->session->link;
}

static void expire(struct exec *e)
{
	e->hold.expire_ms = exec_now(e->executor) + HOLD_CLAIM_MS;
}

void exec_hold_begin(struct exec *e)
{
	if (e->hold_asked && link_hold(link_of(e), &e->hold, e->typed_offset, e->typed_position))
		expire(e);
}

void exec_hold_end(struct exec *e)
{
	if (e->hold.held)
		link_unhold(link_of(e), &e->hold);
}

void exec_hold_ask(struct exec *e)
{
	e->hold_asked = true;
	if (e->state == EXEC_STARTING && !e->hold.held)
		exec_hold_begin(e);
}

void exec_hold(struct exec *e, struct hold *h, const struct outline *o)
{
	struct link *link = link_of(e);
	if (!e->hold.held) {
		link_hold(link, h, o->offset, o->position);
		return;
	}
	holds_replace(&link->holds, &e->hold, h);
	link_hold_moved(link, h, o->offset, o->position);
}

void exec_hold_moved(struct exec *e, struct hold *h, const struct outline_place *at)
{
	link_hold_moved(link_of(e), h, at->offset, at->position);
}

void exec_unhold(struct exec *e, struct hold *h, bool comes_again)
{
	if (comes_again && h->held && e->hold_asked && !e->hold.held) {
		holds_replace(&link_of(e)->holds, h, &e->hold);
		expire(e);
	} else {
		link_unhold(link_of(e), h);
	}
}
