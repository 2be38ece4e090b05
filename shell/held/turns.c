/*
 * asleep -> scheduled -> asleep, scheduled, or resting -> scheduled. Before the loop would sleep, each scheduled object
 * gets one turn, within a time limit, because the loop also serves sockets. An object whose last turn was short runs as
 * soon as it is woken, before the next turn of objects with much work. Nothing here can fail.
 */
#include "shell/held/turns.h"

#include <assert.h>
#include <stdint.h>
#include <utlist.h>

#define REST_MS 1u
#define TURNS_NS 1000000u /* of all turns in one iteration of the loop */
#define LIGHT_NS 100000u  /* a turn up to this long delays no other one */

void turn_remove(struct turns *t, struct turn *turn)
{
	if (turn->state == TURN_SCHEDULED)
		DL_DELETE(t->scheduled, turn);
	else if (turn->state == TURN_RESTING)
		DL_DELETE(t->resting, turn);
	turn->state = TURN_ASLEEP;
}

void turn_schedule(struct turns *t, struct turn *turn)
{
	if (turn->state == TURN_SCHEDULED)
		return;
	turn_remove(t, turn);
	turn->state = TURN_SCHEDULED;
	DL_APPEND(t->scheduled, turn);
}

static void on_rested(uv_timer_t *timer)
{
	struct turns *t = timer->data;
	while (t->resting)
		turn_schedule(t, t->resting);
}

static void let_rest(struct turns *t, struct turn *turn)
{
	if (turn->state != TURN_ASLEEP)
		return;
	if (!t->resting)
		uv_timer_start(&t->rest, on_rested, REST_MS, 0);
	turn->state = TURN_RESTING;
	DL_PREPEND(t->resting, turn);
}

void turn_run(struct turns *t, struct turn *turn)
{
	uint64_t start = uv_hrtime();
	turn_remove(t, turn);
	turn->heavy = false;
	enum turn_next next = t->take(turn);
	if (next == TURN_SLEEP)
		return; /* it may be freed */
	turn->heavy = uv_hrtime() - start > LIGHT_NS;
	if (next == TURN_MORE)
		turn_schedule(t, turn);
	else
		let_rest(t, turn);
}

void turn_wake(struct turns *t, struct turn *turn)
{
	if (turn->state != TURN_SCHEDULED && !turn->heavy)
		turn_run(t, turn);
	else
		turn_schedule(t, turn);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* an active idle handle keeps the loop from sleeping */
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct turns *t = prepare->data;
	const struct turn *turn;
	unsigned count;
	if (t->suspended)
		return;
	DL_COUNT(t->scheduled, turn, count);
	for (uint64_t until = uv_hrtime() + TURNS_NS;
		count > 0 && t->scheduled && uv_hrtime() < until; count--)
		turn_run(t, t->scheduled);
	if (t->scheduled)
		uv_idle_start(&t->idle, on_idle);
	else
		uv_idle_stop(&t->idle);
}

void turns_open(struct turns *t, uv_loop_t *loop, enum turn_next (*take)(struct turn *turn))
{
	*t = (struct turns){.loop = loop, .take = take};
	/* These cannot fail. */
	uv_prepare_init(loop, &t->prepare);
	uv_idle_init(loop, &t->idle);
	uv_timer_init(loop, &t->rest);
	t->prepare.data = t->rest.data = t;
	uv_prepare_start(&t->prepare, on_prepare);
	uv_unref((uv_handle_t *)&t->prepare);
}

void turns_close(struct turns *t)
{
	assert(!t->scheduled && !t->resting);
	uv_close((uv_handle_t *)&t->prepare, NULL);
	uv_close((uv_handle_t *)&t->idle, NULL);
	uv_close((uv_handle_t *)&t->rest, NULL);
}

void turns_suspend(struct turns *t, bool suspend)
{
	t->suspended = suspend;
}
