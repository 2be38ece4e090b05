/*
 * Ending a process's holder, which kills what is left of the tree. If the holder does not end in
 * time or is dead, the server kills the rest itself, see shell/held/ending.h.
 */
#include "shell/held/ending.h"
#include "shell/process/internal.h"

#define END_GRACE_MS 300u /* for processes that a kill has missed */

/* What a dead holder has left is killed; the process stays in the table. */
static void on_orphans_ended(void *held, int error)
{
	struct process *p = process_of_held(held);
	process_move_tree(p, PROCESS_TREE_GONE);
	held_schedule_turn(&p->held); /* its output moves to a file */
	process_kill_done(p, error < 0 ? (int)p->held.removal.survivors : 0);
	process_notify(p);
}

/* Of a process whose output is in a file. */
static void on_holder_ended(void *held, int error)
{
	(void)error; /* the holder is not needed any more */
	process_close_link(process_of_held(held));
}

void process_end_holder(struct process *p)
{
	struct held *h = &p->held;
	bool removing = p->state == PROCESS_REMOVING, before = p->end_asked;
	bool kept = p->output == PROCESS_OUTPUT_FILE;
	p->end_asked = true;
	/* There is no holder to end. */
	if (!process_has_holder(p) || h->taken || (kept && h->holder_lost)) {
		if (removing && h->taken)
			process_release(p);
		else if (removing)
			process_discard(p);
		else
			process_close_link(p);
		return;
	}
	bool asked = !h->holder_lost && ((kept && before) || held_ask_to_end(h, END_GRACE_MS));
	unsigned wait_ms = asked ? END_GRACE_MS + REMOVAL_WAIT_MS : 0;
	if (h->removal.table && removing)
		held_continue_as_end(h);
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

void process_kill_orphans(struct process *p)
{
	if (p->held.taken)
		on_orphans_ended(&p->held, 0);
	else if (!p->held.removal.table)
		held_remove(&p->held, 0, on_orphans_ended);
}
