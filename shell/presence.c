#include "shell/presence.h"

#include <stddef.h>

const char *role_name(enum role role)
{
	static const char *const names[] = {
		[ROLE_VIEWER] = "viewer", [ROLE_DRIVER] = "driver", [ROLE_OWNER] = "owner"};
	return names[role];
}

void presence_init(struct presence *p)
{
	*p = (struct presence){.next_id = 1};
}

/* The colour that the fewest have. */
static unsigned pick_color(const struct presence *p)
{
	unsigned used[PRESENCE_COLORS] = {0}, best = 0;
	for (const struct attendee *a = p->first; a; a = a->next)
		used[a->color]++;
	for (unsigned i = 1; i < PRESENCE_COLORS; i++)
		if (used[i] < used[best])
			best = i;
	return best;
}

void presence_join(struct presence *p, struct attendee *a)
{
	struct attendee **end = &p->first;
	a->color = pick_color(p);
	a->id = p->next_id++;
	a->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = a;
	p->count++;
	p->version++;
}

static bool may_hold(const struct attendee *a)
{
	return a->role != ROLE_VIEWER && a->rows > 0;
}

/* Who typed last among those who may hold the size; before anybody has, who came first. */
static struct attendee *next_holder(const struct presence *p)
{
	struct attendee *best = NULL;
	for (struct attendee *a = p->first; a; a = a->next)
		if (may_hold(a) && (!best || a->typed_ms > best->typed_ms))
			best = a;
	return best;
}

void presence_leave(struct presence *p, struct attendee *a)
{
	struct attendee **at = &p->first;
	while (*at && *at != a)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = a->next;
	p->count--;
	p->version++;
	if (p->holder == a)
		p->holder = next_holder(p);
}

bool presence_type(struct presence *p, struct attendee *a, uint64_t now_ms)
{
	/* Others need to know who types, not each key: tell them of the first and then once a second. */
	if (now_ms - a->typed_ms >= 1000)
		p->version++;
	a->typed_ms = now_ms;
	if (p->holder == a || !may_hold(a))
		return false;
	p->holder = a;
	p->version++;
	return true;
}

bool presence_window(struct presence *p, struct attendee *a, unsigned rows, unsigned cols)
{
	a->rows = rows;
	a->cols = cols;
	if (!p->holder && may_hold(a)) {
		p->holder = a;
		p->version++;
	}
	return p->holder == a;
}

struct attendee *presence_responder(const struct presence *p)
{
	struct attendee *best = NULL;
	if (p->holder && p->holder->ready)
		return p->holder;
	for (struct attendee *a = p->first; a; a = a->next)
		if (a->role != ROLE_VIEWER && a->ready && (!best || a->typed_ms > best->typed_ms))
			best = a;
	return best;
}
