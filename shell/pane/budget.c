/*
 * Sums are updated as panes are weighed; panes are searched only if the limit is exceeded. Then
 * they are asked to drop more than the excess, so that this is rare.
 */
#include "shell/pane/budget.h"

#include "shell/pane/pane.h"

#include <utlist.h>

#define SPARE_PART 8u /* this part of the limit is made free at once */
#define ASKED_MAX 16u /* panes that are asked in one turn: each costs a search of all panes */

#define share_prev screen_share.prev
#define share_next screen_share.next

/* Bytes that cannot be dropped. */
static size_t committed(const struct budget_share *s)
{
	size_t rest = s->used - s->lines;
	return rest > s->size ? rest : s->size;
}

/* Replace a share and update the sums. */
static void update(struct budget_share *s, const struct budget_share *now)
{
	struct budget *b = s->budget;
	b->used += now->used - s->used;
	b->committed += committed(now) - committed(s);
	b->asked += now->give - s->give;
	*s = *now;
}

void budget_join(struct budget *b, struct pane *p)
{
	if (!p->screen_share.budget) {
		p->screen_share.budget = b;
		DL_APPEND2(b->first, p, share_prev, share_next);
	}
	budget_resized(p);
}

void budget_leave(struct pane *p)
{
	struct budget_share *s = &p->screen_share, none = *s;
	if (!s->budget)
		return;
	none.size = none.used = none.lines = none.give = 0;
	update(s, &none);
	DL_DELETE2(s->budget->first, p, share_prev, share_next);
	*s = (struct budget_share){0};
}

bool budget_allows(struct budget *b, const struct pane *p, unsigned rows, unsigned cols)
{
	size_t size = screen_size_bytes(rows, cols);
	struct budget_share now = p ? p->screen_share : (struct budget_share){0};
	size_t before = committed(&now);
	bool grows = size > now.size;
	now.size = size;
	if (b->limit == 0 || !grows || (size_t)rows * cols <= BUDGET_SMALL ||
		b->committed + committed(&now) - before <= b->limit)
		return true;
	b->sizes_refused++;
	return false;
}

void budget_resized(struct pane *p)
{
	struct budget_share now = p->screen_share;
	if (!now.budget)
		return;
	now.size = screen_size_bytes(p->rows, p->cols);
	update(&p->screen_share, &now);
}

static bool goes_before(const struct pane *a, const struct pane *b)
{
	if (a->screen_share.watched != b->screen_share.watched)
		return !a->screen_share.watched;
	return a->activity_ms < b->activity_ms;
}

/* The next pane to drop lines, among those that have more than they were asked for, or NULL. */
static struct pane *first_to_give(const struct budget *b)
{
	struct pane *p, *first = NULL;
	for (p = b->first; p; p = p->screen_share.next)
		if (p->screen_share.lines > p->screen_share.give && (!first || goes_before(p, first)))
			first = p;
	return first;
}

static void ask(struct pane *p, size_t bytes)
{
	struct budget_share *s = &p->screen_share, now = *s;
	size_t most = s->lines - s->give;
	now.give += bytes < most ? bytes : most;
	update(s, &now);
	s->budget->trims++;
	held_schedule_turn(&p->held);
}

/*
 * Ask panes to drop lines until the goal is reached. What was asked for already counts as dropped.
 */
static void ask_panes(struct budget *b)
{
	size_t goal = b->limit - b->limit / SPARE_PART;
	for (unsigned n = 0; n < ASKED_MAX && b->used > b->asked + goal; n++) {
		struct pane *p = first_to_give(b);
		if (!p)
			return;
		ask(p, b->used - b->asked - goal);
	}
}

void budget_weigh(struct pane *p, bool watched)
{
	struct budget_share *s = &p->screen_share;
	const struct live *l = &p->live;
	if (!s->budget || l->lent)
		return;
	s->watched = watched;
	uint64_t version = l->screen ? screen_version(l->screen) : 0;
	if (version == s->version && l->frozen == s->frozen)
		return;
	struct screen_weight w = {0};
	if (l->screen)
		w = screen_measure(l->screen);
	struct budget_share now = *s;
	now.version = version;
	now.frozen = l->frozen;
	now.used = w.all;
	now.lines = w.lines;
	if (l->given != s->given || w.lines == 0)
		now.give = 0;
	s->budget->lines += l->given - s->given;
	now.given = l->given;
	update(s, &now);
	if (s->budget->limit > 0 && s->budget->used > s->budget->asked + s->budget->limit)
		ask_panes(s->budget);
}
