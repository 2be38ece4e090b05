/*
 * The end of what a process's holder has to do: it ends itself, with whoever it still finds. What it does not do in time,
 * or cannot do any more, is done here: see shell/held/removal.h.
 */
#include "shell/process/internal.h"

#define END_GRACE_MS 300u /* for whoever a kill has missed */

static void on_removed(void *user, int error)
{
	struct process *p = user;
	struct processes *t = p->table;
	if (error == 0) {
		p->gone = true;
		process_discard(p);
		return;
	}
	p->survivors = p->held.removal.survivors;
	if (!p->held.stuck)
		t->callbacks->failed(t->user, p->held.id, "some of its processes survive", error);
	p->held.stuck = true;
	process_answer(&p->removers, p, REPORT_READY, error);
	removal_start(&t->removals, &p->held.removal, REMOVAL_AGAIN_MS);
}

/* Those whom the holder of one that stays in the table has left. */
static void on_orphans_ended(void *user, int error)
{
	struct process *p = user;
	p->gone = true;
	held_make_busy(&p->held); /* its output moves to a file */
	process_kill_done(p, error < 0 ? (int)p->held.removal.survivors : 0);
	process_tell(p);
}

/* Of one that has ended, and is kept. */
static void on_holder_ended(void *user, int error)
{
	struct process *p = user;
	(void)error; /* it is of no use any more, and cannot run */
	process_let_go(p);
}

static void start(struct process *p, void (*done)(void *user, int error), unsigned wait_ms)
{
	p->held.removal = (struct removal){.done = done,
		.user = p,
		.dir_fd = p->held.link.dir_fd,
		.mark = removal_mark(p->held.directory),
		.holder = p->held.holder_lost ? -1 : link_holder(&p->held.link)};
	removal_start(&p->table->removals, &p->held.removal, wait_ms);
}

void process_end_holder(struct process *p)
{
	bool removing = p->state == PROCESS_REMOVING, before = p->end_asked;
	p->end_asked = true;
	/* Nothing depends on one that has nobody to end. */
	if (p->let_go || p->held.taken || (p->kept && p->held.holder_lost)) {
		if (removing && p->held.taken)
			process_release(p);
		else if (removing)
			process_discard(p);
		else
			process_let_go(p);
		return;
	}
	bool asked = !p->held.holder_lost &&
		((p->kept && before) || link_end(&p->held.link, END_GRACE_MS) == 0);
	if (!p->held.removal.table)
		start(p, removing ? on_removed : on_holder_ended,
			asked ? END_GRACE_MS + REMOVAL_WAIT_MS : 0);
	if (removing)
		p->held.removal.done = on_removed;
	if (!asked)
		removal_force(&p->held.removal);
}

void process_await_attach(struct process *p, unsigned grace_ms)
{
	if (!p->held.removal.table)
		start(p, on_removed, grace_ms + REMOVAL_WAIT_MS);
}

void process_end_orphans(struct process *p)
{
	if (p->held.taken)
		on_orphans_ended(p, 0);
	else if (!p->held.removal.table)
		start(p, on_orphans_ended, 0);
}

void process_on_ended(struct process *p, int error)
{
	if (p->state != PROCESS_REMOVING && !p->kept)
		return;
	if (error < 0) {
		removal_force(&p->held.removal); /* perhaps we can */
		return;
	}
	removal_finish(&p->held.removal);
	if (p->state == PROCESS_REMOVING)
		on_removed(p, 0);
	else
		process_let_go(p);
}
