/*
 * One that has a holder, whatever it is. Its link tells us, and we tell its kind; nothing here decides what a start or
 * an end means. See table.c for those that there are, adoption.c for how they are found and ending.c for their end.
 */
#include "shell/held/held.h"

#include "shell/bounds.h"
#include "shell/held/ending.h"
#include "shell/held/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

static const struct held_kind *kind_of(const struct held *h)
{
	return h->table->kind;
}

static void on_attached(void *user)
{
	struct held *h = user;
	h->unresponsive = false;
	kind_of(h)->attached(h);
}

static void on_failed(void *user, enum report_stage stage, int error)
{
	struct held *h = user;
	kind_of(h)->failed(h, stage, error);
}

static void on_wake(void *user)
{
	struct held *h = user;
	turn_wake(&h->table->turns, &h->turn);
}

static void on_lost(void *user, bool taken)
{
	struct held *h = user;
	h->holder_lost = true;
	h->taken = taken;
	kind_of(h)->lost(h);
}

static void on_terminal(void *user, const char *path)
{
	struct held *h = user;
	if (kind_of(h)->terminal)
		kind_of(h)->terminal(h, path);
}

static void on_ended(void *user, int error)
{
	held_on_ended(user, error);
}

static const struct link_callbacks link_callbacks = {
	.attached = on_attached,
	.failed = on_failed,
	.wake = on_wake,
	.lost = on_lost,
	.terminal = on_terminal,
	.ended = on_ended,
};

int held_init(struct held *h, struct held_table *t, const char *directory, int dir_fd)
{
	h->table = t;
	h->directory = strdup(directory);
	int rc = h->directory ? link_init(&h->link, t->loop, dir_fd, &link_callbacks, h) : -ENOMEM;
	if (rc < 0)
		close(dir_fd);
	return rc;
}

int held_start(struct held *h, struct spawn_options *options)
{
	char group[HELD_GROUP_SIZE];
	struct bounded bounded;
	held_group(h->table, h->directory, group);
	int rc = bounds_holder(h->table->bounds, group, options->dir_fd, &bounded);
	if (rc < 0)
		return rc;
	options->wrapper = bounded.wrapper;
	options->inside = bounded.inside;
	options->filter_fd = bounded.filter_fd;
	options->group_fd = bounded.group_fd;
	rc = link_start(&h->link, options, &h->table->reaper);
	bounds_release(&bounded);
	return rc;
}

void held_finish(struct held *h)
{
	free(h->directory);
	h->directory = NULL;
}

static void on_closed(void *user)
{
	struct held *h = user;
	kind_of(h)->closed(h);
}

void held_let_go(struct held *h)
{
	removal_cancel(&h->removal);
	if (!h->link.closing)
		link_close(&h->link, on_closed);
}

uv_loop_t *held_loop(const struct held *h)
{
	return h->table->loop;
}

void held_make_busy(struct held *h)
{
	turn_make_busy(&h->table->turns, &h->turn);
}

void held_take_turn(struct held *h)
{
	turn_take(&h->table->turns, &h->turn);
}

void held_wait(struct held_waiter **list, struct held_waiter *w)
{
	LL_PREPEND(*list, w);
}

void held_answer(struct held_waiter **list, struct held *h, enum report_stage stage, int error)
{
	while (*list) {
		struct held_waiter *w = *list;
		LL_DELETE(*list, w);
		w->done(w, h, stage, error);
	}
}

bool held_heeds(const struct held *h)
{
	/* What was sent to one that has been stopped is done when it goes on. */
	return !link_is_silent(&h->link) || !removal_is_stopped(h->link.info.holder_pid);
}
