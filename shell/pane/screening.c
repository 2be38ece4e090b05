/*
 * here -> away -> here. Little is done at once; much is collected, so that lines which scroll through need not be drawn, and
 * sent to a worker. Back from there, the pane has a turn, in which the next is sent.
 */
#include "shell/pane/screening.h"

#include "shell/pane/pane.h"

static struct pane *pane_of(struct errand *errand)
{
	return (struct pane *)((uintptr_t)errand - offsetof(struct pane, screening.errand));
}

static void on_work(struct errand *errand)
{
	live_work(&pane_of(errand)->live);
}

static void on_back(struct errand *errand)
{
	struct pane *p = pane_of(errand);
	live_take(&p->live);
	held_make_busy(&p->held);
}

static void send_away(struct pane *p)
{
	p->screening.errand.work = on_work;
	p->screening.errand.back = on_back;
	workers_send(p->screening.workers, &p->screening.errand);
}

bool pane_recall_screen(struct pane *p)
{
	if (!p->live.away)
		return false;
	live_want(&p->live);
	workers_recall(p->screening.workers, &p->screening.errand);
	live_take(&p->live);
	return true;
}

/* The same; what was left undone is for the next turn. */
static void take_back(struct pane *p)
{
	if (pane_recall_screen(p))
		held_make_busy(&p->held);
}

/* Whether there is so much to be followed, or so old, that it is worth the way. */
static bool is_worth_it(struct pane *p, uint64_t backlog, bool watched)
{
	uint64_t now = pane_now(p);
	if (p->screening.since_ms == 0)
		p->screening.since_ms = now ? now : 1;
	return backlog >= p->held.link.ring.bytes.size / SCREENING_SHARE ||
		now >=
		p->screening.since_ms + (watched ? SCREENING_WATCHED_MS : SCREENING_UNWATCHED_MS);
}

/* A checkpoint that is due then is for the next turn: the program may be waiting for it. */
static bool follow_here(struct pane *p)
{
	struct live *l = &p->live;
	bool more = live_follow(l, SCREENING_WORK);
	return more || (p->screening.workers && live_owes_checkpoint(l) && live_may_go(l));
}

bool pane_follow(struct pane *p, bool coming, bool watched)
{
	struct live *l = &p->live;
	if (l->away)
		return false;
	uint64_t backlog = live_backlog(l);
	bool owes = live_owes_checkpoint(l);
	if (!p->screening.workers || (backlog <= SCREENING_HERE && !owes) ||
		live_is_asked(l, SCREENING_ASKED))
		return follow_here(p);
	if (coming && !owes && !is_worth_it(p, backlog, watched))
		return false;
	p->screening.since_ms = 0;
	if (!live_send(l))
		return follow_here(p);
	send_away(p);
	return false;
}

uint64_t pane_tail(struct pane *p)
{
	const struct live *l = &p->live;
	return live_tail(&p->live, !p->screening.workers || (!l->away && !live_may_go(l)));
}

struct screen *pane_screen(struct pane *p)
{
	if (!p->history_open)
		return NULL;
	take_back(p);
	return live_screen(&p->live);
}

struct screen *pane_screen_as_is(struct pane *p)
{
	if (!p->history_open)
		return NULL;
	take_back(p);
	return p->live.screen;
}

const struct screen *pane_screen_here(const struct pane *p)
{
	return p->live.away ? NULL : p->live.screen;
}

bool pane_has_screen(const struct pane *p)
{
	return p->live.screen != NULL;
}

void pane_close_screen(struct pane *p)
{
	pane_recall_screen(p);
	live_finish(&p->live);
}
