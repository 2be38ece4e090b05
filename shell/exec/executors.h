/*
 * All executors of a server: what they share, and the clock by which those are looked at that have something to do. It
 * ticks every EXEC_TICK_MS while there are any.
 */
#pragma once

#include "shell/proc/peek.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct exec;
struct executor;

/*
 * What an executor tells whoever has it; user is its own. None may be NULL, and none may close the executor.
 */
struct executor_callbacks {
	/* A command is over; those who watch it hear of it next. */
	void (*executed)(void *user, const struct exec *e);
	/*
	 * Its shell has ended with this wait(2) status, and another has taken its place. by_holder: as another process;
	 * what waited for the old one to be read is lost.
	 */
	void (*restarted)(void *user, int wait_status, bool by_holder);
	/* Something went wrong that nobody waits for; error: a negative errno. */
	void (*failed)(void *user, const char *what, int error);
};

struct executors {
	uv_loop_t *loop;
	const struct executor_callbacks *callbacks;
	const char *runtime_dir; /* borrowed; where inputs and sessions are */
	struct peek peek;        /* what reads memory of programs */
	size_t budget;           /* bytes of output that may still be kept for those who wait */
	uint64_t ended;          /* commands that are over */
	uint64_t not_kept;       /* times that one could not be written down */
	size_t left;             /* see exec_each_left() */
	struct executor *busy;   /* list: with something to do */
	uv_timer_t ticker;       /* active while there are any */
};

/* Begin; all is borrowed. holder: path of ringside-holder. Cannot fail. */
void executors_open(struct executors *all, uv_loop_t *loop, const char *runtime_dir,
	const char *holder, const struct executor_callbacks *callbacks);

/* No executor is open any more; the memory is the caller's until the loop has closed all handles. */
void executors_close(struct executors *all);

/* x has something that is looked at by time, or has nothing any more; fine when that is known. */
void executors_attend(struct executor *x);
void executors_leave(struct executor *x);
