/*
 * The screen is lent to a worker and comes back. Little output is processed at once. Much output is
 * collected, so that lines which scroll through need not be drawn, and left to a worker. When the
 * screen is back, the pane gets a turn, which may lend it again.
 */
#include "shell/pane/screening.h"

#include "shell/pane/pane.h"

#include <stdlib.h>
#include <string.h>

static struct pane *pane_of(struct work_item *work_item)
{
	return (struct pane *)((uintptr_t)work_item - offsetof(struct pane, screening.work_item));
}

static void on_work(struct work_item *work_item)
{
	struct pane *p = pane_of(work_item);
	if (p->screening.paints)
		pane_paint(p);
	else
		live_work(&p->live);
}

static void bring_back(struct pane *p)
{
	bool paints = p->screening.paints;
	p->screening.paints = false;
	p->screening.painted_last = paints;
	live_take_back(&p->live);
	if (paints)
		pane_receive_picture(p);
}

static void on_back(struct work_item *work_item)
{
	struct pane *p = pane_of(work_item);
	bring_back(p);
	held_schedule_turn(&p->held);
}

static struct glance glance_at(const struct live *l)
{
	const struct screen *screen = l->screen;
	struct glance g = {.exists = screen != NULL,
		.title = "",
		.icon = "",
		.checkpoints = l->checkpoints,
		.checkpoint_failures = l->checkpoint_failures,
		.restarts = l->restarts,
		.unheard = l->effects.lost};
	if (!screen)
		return g;
	g.alternate = screen_is_alternate(screen);
	g.version = screen_version(screen);
	g.resume = screen_resume_offset(screen);
	g.memory = screen_memory(screen);
	g.title = screen_title(screen);
	g.icon = screen_icon(screen);
	g.progress = screen_progress(screen);
	return g;
}

/* A copy of text; reuses or frees the copy `before`. NULL if memory is short. */
static const char *keep(const char *before, const char *text)
{
	if (before && strcmp(before, text) == 0)
		return before;
	free((char *)before);
	return strdup(text);
}

static void note_glance(struct pane *p)
{
	struct glance *left = &p->screening.left, now = glance_at(&p->live);
	now.title = keep(left->title, now.title);
	now.icon = keep(left->icon, now.icon);
	*left = now;
}

static void queue_work(struct pane *p, bool patient)
{
	p->screening.work_item.patient = patient;
	p->screening.work_item.work = on_work;
	p->screening.work_item.back = on_back;
	workers_queue(p->screening.workers, &p->screening.work_item);
}

bool pane_recall_screen(struct pane *p)
{
	if (!p->live.lent)
		return false;
	live_recall(&p->live);
	workers_cancel(p->screening.workers, &p->screening.work_item);
	bring_back(p);
	return true;
}

void pane_hurry_screen(struct pane *p)
{
	if (p->live.lent && p->screening.workers)
		workers_prioritize(p->screening.workers, &p->screening.work_item);
}

void pane_lend_screen(struct pane *p, bool patient)
{
	p->screening.paints = true;
	note_glance(p);
	live_lend(&p->live);
	queue_work(p, patient);
}

/* Whether pending output is so much or so old that it should be lent to a worker. */
static bool is_worth_lending(struct pane *p, uint64_t backlog, bool watched)
{
	uint64_t now = pane_now(p);
	if (p->screening.since_ms == 0)
		p->screening.since_ms = now ? now : 1;
	return backlog >= p->held.link.ring.bytes.size / SCREENING_SHARE ||
		now >=
		p->screening.since_ms + (watched ? SCREENING_WATCHED_MS : SCREENING_UNWATCHED_MS);
}

/* A checkpoint that is due is left to the next turn: the program may be waiting for an answer. */
static bool follow_inline(struct pane *p)
{
	struct live *l = &p->live;
	if (!p->screening.workers || !live_can_lend(l))
		live_trim(l);
	bool more = live_follow(l, SCREENING_STEP_CELLS);
	return more ||
		(p->screening.workers && (live_needs_checkpoint(l) || l->give > 0) &&
			live_can_lend(l));
}

static bool follow(struct pane *p, bool coming, bool watched)
{
	struct live *l = &p->live;
	if (l->lent)
		return false;
	uint64_t backlog = live_backlog(l);
	l->give = p->screen_share.give;
	l->freeze = p->screening.workers && backlog == 0 && !coming && live_can_freeze(l);
	bool owes = live_needs_checkpoint(l) || l->give > 0 || l->freeze;
	if (!p->screening.workers || (backlog <= SCREENING_INLINE_MAX && !owes) ||
		live_has_query(l, SCREENING_QUERY_INLINE_MAX))
		return follow_inline(p);
	if (coming && !owes && !pane_has_looks(p) && !is_worth_lending(p, backlog, watched))
		return false;
	p->screening.since_ms = 0;
	note_glance(p);
	if (!live_start_work(l))
		return follow_inline(p);
	queue_work(p, false);
	return false;
}

bool pane_follow(struct pane *p, bool coming, bool watched)
{
	budget_weigh(p, watched); /* the screen may have come back */
	pane_finish_looks(p, !p->screening.painted_last);
	bool more = follow(p, coming, watched);
	pane_finish_looks(p, true);
	budget_weigh(p, watched);
	return more;
}

uint64_t pane_tail(struct pane *p)
{
	const struct live *l = &p->live;
	return live_tail(&p->live, !p->screening.workers || (!l->lent && !live_can_lend(l)));
}

const struct screen *pane_unlent_screen(const struct pane *p)
{
	return p->live.lent ? NULL : p->live.screen;
}

struct glance pane_screen_summary(const struct pane *p)
{
	if (!p->live.lent)
		return glance_at(&p->live);
	struct glance g = p->screening.left;
	g.title = g.title ? g.title : "";
	g.icon = g.icon ? g.icon : "";
	return g;
}

bool pane_has_screen(const struct pane *p)
{
	return p->live.screen != NULL;
}

void pane_close_screen(struct pane *p)
{
	pane_recall_screen(p);
	pane_close_looks(p);
	budget_leave(p);
	live_finish(&p->live);
	free((char *)p->screening.left.title);
	free((char *)p->screening.left.icon);
	p->screening.left = (struct glance){0};
}
