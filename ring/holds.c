/*
 * A doubly linked list, newest first. A hold that ran out of patience or expired is removed for
 * good. Only adding can fail, at HOLDS_MAX.
 */
#include "ring/holds.h"

#include <stddef.h>

#define PATIENCE_MAX ((uint64_t)HOLD_STALL_MS * HOLD_RATE)

static void insert(struct holds *all, struct hold *h)
{
	h->held = true;
	h->prev = NULL;
	h->next = all->first;
	if (all->first)
		all->first->prev = h;
	all->first = h;
	all->count++;
}

bool holds_add(struct holds *all, struct hold *h, uint64_t offset, uint64_t position)
{
	if (all->count >= HOLDS_MAX)
		return false;
	h->offset = offset;
	h->position = position;
	h->patience = PATIENCE_MAX;
	h->expire_ms = 0;
	insert(all, h);
	return true;
}

void holds_remove(struct holds *all, struct hold *h)
{
	if (!h->held)
		return;
	if (h->prev)
		h->prev->next = h->next;
	else
		all->first = h->next;
	if (h->next)
		h->next->prev = h->prev;
	h->next = h->prev = NULL;
	h->held = false;
	all->count--;
}

void hold_move(struct hold *h, uint64_t offset, uint64_t position)
{
	if (offset > h->offset) {
		uint64_t read = offset - h->offset;
		h->patience = read < PATIENCE_MAX - h->patience ? h->patience + read : PATIENCE_MAX;
		h->offset = offset;
	}
	if (position > h->position)
		h->position = position;
}

void holds_replace(struct holds *all, struct hold *from, struct hold *to)
{
	*to = *from;
	holds_remove(all, from);
	insert(all, to);
	to->expire_ms = 0;
}

void holds_min(const struct holds *all, uint64_t *offset, uint64_t *position)
{
	for (const struct hold *h = all->first; h; h = h->next) {
		if (h->offset < *offset)
			*offset = h->offset;
		if (h->position < *position)
			*position = h->position;
	}
}

/*
 * Whether the writer waits for this hold, or would wait for it after slower ones are gone: so many
 * slow holds together stop the writer no longer than one.
 */
static bool is_behind(const struct hold *h, const struct holds_writer *w)
{
	return w->head - h->offset >= w->size / 2 ||
		(h->position <= w->events && w->events - h->position >= w->events_size / 2);
}

bool holds_tick(struct holds *all, const struct holds_writer *w, uint64_t now_ms)
{
	struct hold *next;
	bool dropped = false;
	uint64_t passed = now_ms - all->charged_ms;
	if (passed > 2 * HOLD_TICK_MS)
		passed = 2 * HOLD_TICK_MS;
	all->charged_ms = now_ms;
	for (struct hold *h = all->first; h; h = next) {
		uint64_t cost = w->blocked && is_behind(h, w) ? passed * HOLD_RATE : 0;
		next = h->next;
		h->patience = h->patience > cost ? h->patience - cost : 0;
		if (h->patience > 0 && (h->expire_ms == 0 || now_ms < h->expire_ms))
			continue;
		holds_remove(all, h);
		dropped = true;
	}
	return dropped;
}
