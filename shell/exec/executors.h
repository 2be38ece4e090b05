/* What all executors of a server share, and the timer that ticks the busy ones. */
#pragma once

#include "shell/proc/peek.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct exec;
struct executor;

/* Called with executor.user. None may be NULL, and none may close the executor. */
struct executor_callbacks {
	/* A command is over. Its watchers are called next. */
	void (*executed)(void *user, const struct exec *e);
	/*
	 * The shell has ended with this wait(2) status, and a new one runs. by_holder: the holder
	 * has started it as another process; input that the old one had not read is lost.
	 */
	void (*restarted)(void *user, int wait_status, bool by_holder);
	/* An error that no caller gets; error: a negative errno. */
	void (*failed)(void *user, const char *what, int error);
};

/* What all executors of a server share. */
struct executors {
	uv_loop_t *loop;
	const struct executor_callbacks *callbacks;
	const char *runtime_dir; /* borrowed; has the inlets and the sessions' directories */
	struct peek peek;        /* reads the memory of programs */
	size_t budget;           /* bytes of output that may still be kept for running execs */
	uint64_t ended;          /* commands that are over */
	uint64_t not_kept;       /* failed writes to a log */
	size_t unreported;       /* execs that exec_each_unreported() has yet to report */
	struct executor *busy;   /* list: get exec_tick() */
	uv_timer_t ticker;       /* active while that is not empty */
};

/* Init. All arguments are borrowed. holder: path of ringside-holder. Cannot fail. */
void executors_open(struct executors *all, uv_loop_t *loop, const char *runtime_dir,
	const char *holder, const struct executor_callbacks *callbacks);

/* Close; no executor may be open. The memory must stay until the loop has closed all handles. */
void executors_close(struct executors *all);

/* Call exec_tick() for x from now on. Does nothing when that is so already. */
void executors_add_busy(struct executor *x);

/* Stop calling exec_tick() for x. Does nothing when that is so already. */
void executors_remove_busy(struct executor *x);
