/*
 * Turns: fair scheduling of work on the loop. Each object does a bounded piece of work in its turn and returns what
 * comes next. One that floods rests for a moment, so that more output is consumed at once.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* Result of a turn. */
enum turn_next {
	TURN_MORE,  /* there is more to do */
	TURN_REST,  /* try again in a moment */
	TURN_SLEEP, /* sleep until woken; or it is freed */
};

/* What it waits for: a wake-up, its turn, or the end of a rest. */
enum turn_state { TURN_ASLEEP, TURN_BUSY, TURN_RESTING };

/* An object that has turns; zeroed memory is asleep. */
struct turn {
	struct turn *prev, *next; /* in the list of its state */
	enum turn_state state;
	bool heavy; /* its last turn took long, and may not have done all */
};

/* The scheduler. */
struct turns {
	uv_loop_t *loop; /* not owned */
	enum turn_next (*take)(struct turn *turn);
	struct turn *busy, *resting; /* lists */
	uv_prepare_t prepare;        /* runs the turns */
	uv_idle_t idle;              /* active while there are busy ones */
	uv_timer_t rest;             /* ends the rest */
	bool put_off;
};

/* Start. take: one turn; it may make turns busy, and forget any. */
void turns_open(struct turns *t, uv_loop_t *loop, enum turn_next (*take)(struct turn *turn));

/* Stop; no turn may be busy or resting. The memory is the caller's until the loop has closed the handles. */
void turns_close(struct turns *t);

/* Suspend all turns, except by turn_run(), or resume them. */
void turns_suspend(struct turns *t, bool put_off);

/* Schedule a turn in the next iteration of the loop. */
void turn_make_busy(struct turns *t, struct turn *turn);

/* Take a turn now; not from inside of the same one. */
void turn_run(struct turns *t, struct turn *turn);

/* There is work: take the turn now, or schedule it if the last one took long. Not from inside of a turn. */
void turn_wake(struct turns *t, struct turn *turn);

/* Remove it from the scheduler, until it is made busy again. */
void turn_remove(struct turns *t, struct turn *turn);
