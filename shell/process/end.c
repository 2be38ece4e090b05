/*
 * The end of what a process's holder has to do: it ends itself, with whoever it still finds. What it does not do in time,
 * or cannot do any more, is done here: see shell/held/ending.h.
 */
#include "shell/held/ending.h"
#include "shell/process/internal.h"

#define END_GRACE_MS 300u /* for whoever a kill has missed */

/* Those whom the holder of one that stays in the table has left. */
static void on_orphans_ended(void *held, int error)
{
	struct process *p = process_of_held(held);
	p->gone = true;
	held_make_busy(&p->held); /* its output moves to a file */
	process_kill_done(p, error < 0 ? (int)p->held.removal.survivors : 0);
	process_tell(p);
}

/* Of one that has ended, and is kept. */
static void on_holder_ended(void *held, int error)
{
	(void)error; /* it is of no use any more, and cannot run */
	process_let_go(process_of_held(held));
}

void process_end_holder(struct process *p)
{
	struct held *h = &p->held;
	bool removing = p->state == PROCESS_REMOVING, before = p->end_asked;
	p->end_asked = true;
	/* Nothing depends on one that has nobody to end. */
	if (p->let_go || h->taken || (p->kept && h->holder_lost)) {
		if (removing && h->taken)
			process_release(p);
		else if (removing)
			process_discard(p);
		else
			process_let_go(p);
		return;
	}
	bool asked = !h->holder_lost && ((p->kept && before) || held_ask_to_end(h, END_GRACE_MS));
	unsigned wait_ms = asked ? END_GRACE_MS + REMOVAL_WAIT_MS : 0;
	if (h->removal.table && removing)
		held_end_instead(h);
	else if (!h->removal.table && removing)
		held_end(h, wait_ms);
	else if (!h->removal.table)
		held_remove(h, wait_ms, on_holder_ended);
	if (!asked)
		removal_force(&h->removal);
}

void process_await_attach(struct process *p, unsigned grace_ms)
{
	unsigned wait_ms = grace_ms + REMOVAL_WAIT_MS;
	if (p->held.removal.table)
		return;
	if (p->state == PROCESS_REMOVING)
		held_end(&p->held, wait_ms);
	else
		held_remove(&p->held, wait_ms, on_holder_ended);
}

void process_end_orphans(struct process *p)
{
	if (p->held.taken)
		on_orphans_ended(&p->held, 0);
	else if (!p->held.removal.table)
		held_remove(&p->held, 0, on_orphans_ended);
}
