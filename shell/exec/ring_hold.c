/*
 * Holding the ring for readers of a command's whole output (ring/holds.h). A reader comes after the
 * request for the command, and again when its connection has broken. Until then the exec itself
 * holds the ring for it.
 */
#include "shell/exec/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

static struct link *link_of(const struct exec *e)
{
	return &e->executor->pane->held.link;
}

static void set_expiry(struct exec *e)
{
	e->hold.expire_ms = exec_now(e->executor) + HOLD_CLAIM_MS;
}

/* Hold the ring for the pager from offset on. A new hold keeps the pager's remaining patience. */
static void hold_page(struct exec *e, uint64_t offset)
{
	struct hold *h = &e->pager->hold;
	uint64_t patience = h->patience;
	bool known = h->offset > 0;
	if (h->held)
		link_move_hold(link_of(e), h, offset, UINT64_MAX);
	else if (link_hold(link_of(e), h, offset, UINT64_MAX) && known)
		h->patience = patience;
	h->expire_ms = exec_now(e->executor) + EXEC_PAGE_MS;
}

void exec_hold_begin(struct exec *e)
{
	if (e->hold_expected && link_hold(link_of(e), &e->hold, e->typed_offset, e->typed_position))
		set_expiry(e);
	if (e->pager && !e->pager->hold.held)
		hold_page(e, e->typed_offset);
}

static void end_page(struct exec *e)
{
	if (e->pager && e->pager->hold.held)
		link_release_hold(link_of(e), &e->pager->hold);
}

void exec_hold_end(struct exec *e)
{
	if (e->hold.held)
		link_release_hold(link_of(e), &e->hold);
	end_page(e);
	free(e->pager);
	e->pager = NULL;
}

void exec_hold_expect(struct exec *e)
{
	e->hold_expected = true;
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
	link_move_hold(link, h, o->offset, o->position);
}

void exec_hold_moved(struct exec *e, struct hold *h, const struct outline_place *at)
{
	link_move_hold(link_of(e), h, at->offset, at->position);
}

void exec_unhold(struct exec *e, struct hold *h, bool comes_again)
{
	if (comes_again && h->held && e->hold_expected && !e->hold.held) {
		holds_replace(&link_of(e)->holds, h, &e->hold);
		set_expiry(e);
	} else {
		link_release_hold(link_of(e), h);
	}
}

/* Page by page */

static bool is_pager(const struct exec *e, const char *reader)
{
	return e->pager && strcmp(e->pager->reader, reader) == 0;
}

/* Make `reader` the pager. False: the ring is held for another one, or memory is short. */
static bool set_pager(struct exec *e, const char *reader)
{
	if (is_pager(e, reader))
		return true;
	if (e->pager && e->pager->hold.held)
		return false;
	struct exec_pager *p = calloc(1, sizeof *p);
	if (!p)
		return false;
	if (e->pager) /* a new name does not get new patience */
		p->hold = e->pager->hold;
	free(e->pager);
	e->pager = p;
	snprintf(p->reader, sizeof p->reader, "%s", reader);
	return true;
}

void exec_hold_page(struct exec *e, const char *reader, uint64_t offset)
{
	bool over = e->state == EXEC_DONE && offset >= e->end_offset;
	if (over && is_pager(e, reader))
		end_page(e);
	if (over || (e->state == EXEC_DONE && !e->pager) || !set_pager(e, reader))
		return;
	/* What the reader has read since earns patience, also after its hold has ended. */
	if (!e->pager->hold.held && e->pager->hold.offset > 0)
		hold_move(&e->pager->hold, offset, UINT64_MAX);
	if (e->state == EXEC_RUNNING || e->state == EXEC_DONE)
		hold_page(e, offset);
	else if (e->state == EXEC_STARTING)
		hold_page(e, e->typed_offset);
}

void exec_hold_page_pause(struct exec *e, const char *reader)
{
	if (!is_pager(e, reader))
		return;
	end_page(e);
	e->pager->hold.offset = UINT64_MAX; /* output that is printed meanwhile earns no patience */
}

uint64_t exec_hold_page_lost(struct exec *e, const char *reader, uint64_t bytes, uint64_t offset)
{
	if (!is_pager(e, reader))
		return bytes;
	struct exec_pager *p = e->pager;
	p->lost += bytes;
	if (bytes > 0 && !p->hold.held && p->hold.offset < offset)
		p->hold.offset = offset; /* lost bytes earn no patience */
	return p->lost;
}

static void end_pages_of(struct exec *e, const char *readers)
{
	if (e->pager && strncmp(e->pager->reader, readers, strlen(readers)) == 0)
		end_page(e);
}

void exec_hold_page_end(struct executor *x, const char *readers)
{
	struct exec *e;
	DL_FOREACH (x->finished, e)
		end_pages_of(e, readers);
	DL_FOREACH (x->queue, e)
		end_pages_of(e, readers);
	if (x->current)
		end_pages_of(x->current, readers);
}
