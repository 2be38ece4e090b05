/*
 * Turns: who of many is looked at, and when. Each has a bounded piece of work done in its turn, says what is to come
 * next, and then the others have theirs; one that floods rests for a moment, so that what comes is collected.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* What a turn has come to. */
enum turn_next {
	TURN_MORE, /* there is more to be done */
	TURN_REST, /* look again in a moment */
	TURN_OVER, /* it sleeps until it is woken, or is no more */
};

/* Whether it waits to be woken, for its turn, or for a moment. */
enum turn_state { TURN_ASLEEP, TURN_BUSY, TURN_RESTING };

/* One that has turns; zeroed memory is one that sleeps. */
struct turn {
	struct turn *prev, *next; /* in the list that its state says */
	enum turn_state state;
	bool heavy; /* its last turn took long, and was not all that it has to do */
};

struct turns {
	uv_loop_t *loop; /* not owned */
	enum turn_next (*take)(struct turn *turn);
	struct turn *busy, *resting; /* lists */
	uv_prepare_t prepare;        /* gives the busy ones their turns */
	uv_idle_t idle;              /* keeps the loop from sleeping while there are any */
	uv_timer_t rest;             /* ends the rest of those that rest */
	bool put_off;
};

/* take: one turn. It may make itself or others busy, and forget any. */
void turns_open(struct turns *t, uv_loop_t *loop, enum turn_next (*take)(struct turn *turn));

/* Nobody may have a turn any more. The memory is the caller's until the loop has closed the handles. */
void turns_close(struct turns *t);

/* Nobody has a turn until this is taken back, but by turn_take(). */
void turns_put_off(struct turns *t, bool put_off);

/* It is to be looked at in the next turn of the loop. */
void turn_make_busy(struct turns *t, struct turn *turn);

/* Its turn, now; not from inside of one of its own. */
void turn_take(struct turns *t, struct turn *turn);

/* There is something for it: its turn comes now, unless its last took long; then it is busy. Not from inside of a turn. */
void turn_wake(struct turns *t, struct turn *turn);

/* It has no turn any more, until it is made busy again. */
void turn_forget(struct turns *t, struct turn *turn);
