/*
 * Turns: fair scheduling of work on the loop. Each object does a bounded piece of work in its turn and returns what
 * comes next. An object with a flood of output rests for a moment, and then consumes more at once.
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
enum turn_state { TURN_ASLEEP, TURN_SCHEDULED, TURN_RESTING };

/* An object that has turns; zeroed memory is asleep. */
struct turn {
	struct turn *prev, *next; /* in the list of its state */
	enum turn_state state;
	bool heavy; /* its last turn took long, and there may be more to do */
};

/* The scheduler. */
struct turns {
	uv_loop_t *loop; /* not owned */
	enum turn_next (*take)(struct turn *turn);
	struct turn *scheduled, *resting; /* lists */
	uv_prepare_t prepare;             /* runs the turns */
	uv_idle_t idle;                   /* active while any are scheduled */
	uv_timer_t rest;                  /* ends the rest */
	bool suspended;
};

/* Start. take: runs one turn; it may schedule and remove any turns. */
void turns_open(struct turns *t, uv_loop_t *loop, enum turn_next (*take)(struct turn *turn));

/* Stop; no turn may be scheduled or resting. The memory is the caller's until the loop has closed the handles. */
void turns_close(struct turns *t);

/* Suspend all turns, except by turn_run(), or resume them. */
void turns_suspend(struct turns *t, bool suspend);

/* Schedule a turn in the next iteration of the loop. */
void turn_schedule(struct turns *t, struct turn *turn);

/* Run a turn now. Not from inside the same turn. */
void turn_run(struct turns *t, struct turn *turn);

/* There is work: run the turn now, or schedule it if the last one took long. Not from inside a turn. */
void turn_wake(struct turns *t, struct turn *turn);

/* Remove it from the scheduler, until it is scheduled again. */
void turn_remove(struct turns *t, struct turn *turn);
