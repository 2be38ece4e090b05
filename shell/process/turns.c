/* Turns: which processes are looked at, and when, beside those whose holders wake us. */
#include "shell/process/internal.h"

#include <utlist.h>

#define REST_MS 1u

static void on_rested(uv_timer_t *timer)
{
	struct processes *t = timer->data;
	struct process *p, *next;
	LL_FOREACH_SAFE2(t->resting, p, next, next_turn)
	{
		LL_DELETE2(t->resting, p, next_turn);
		p->turn = PROCESS_ASLEEP;
		process_make_busy(p);
	}
}

void process_rest(struct process *p)
{
	struct processes *t = p->table;
	if (p->turn != PROCESS_ASLEEP)
		return;
	p->turn = PROCESS_RESTING;
	LL_PREPEND2(t->resting, p, next_turn);
	if (!uv_is_active((const uv_handle_t *)&t->rest))
		uv_timer_start(&t->rest, on_rested, REST_MS, 0);
}

void process_make_busy(struct process *p)
{
	struct processes *t = p->table;
	if (p->turn != PROCESS_ASLEEP)
		return;
	p->turn = PROCESS_BUSY;
	LL_APPEND2(t->busy, p, next_turn);
	if (!uv_is_active((const uv_handle_t *)&t->idle))
		uv_idle_start(&t->idle, process_turns);
}

void process_turns(uv_idle_t *idle)
{
	struct processes *t = idle->data;
	struct process *turn = t->busy;
	t->busy = NULL;
	while (turn) {
		struct process *p = turn;
		turn = p->next_turn;
		p->turn = PROCESS_ASLEEP;
		if (p->ring_open)
			process_consume(p);
	}
	if (!t->busy)
		uv_idle_stop(idle);
}

void process_forget_turn(struct process *p)
{
	struct processes *t = p->table;
	if (p->turn == PROCESS_BUSY)
		LL_DELETE2(t->busy, p, next_turn);
	else if (p->turn == PROCESS_RESTING)
		LL_DELETE2(t->resting, p, next_turn);
	p->turn = PROCESS_ASLEEP;
}
