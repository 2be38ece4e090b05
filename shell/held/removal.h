/*
 * Ending what a holder was asked to end, when it does not answer or is no more. The guard (pty/holder/guard.c), which is the
 * parent of the holder, does it: SIGTERM makes it kill the holder, and then everything below. It ends last, and that is
 * what is waited for. Where there is a control group, everything in that is killed as well.
 *
 * A holder whose guard was killed has nobody to do it: what is below it is killed from here. Where neither is known, the lock of
 * the directory tells whether one is left, and it is looked for among all processes.
 */
#pragma once

#include "shell/proc/attempt.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#define REMOVAL_WAIT_MS 1500u /* for a holder to answer, after the grace that it was given */
#define REMOVAL_GIVE_UP_MS \
	3000u                  /* what lives so long after the first SIGKILL cannot be ended now */
#define REMOVAL_AGAIN_MS 5000u /* between two tries */
#define REMOVAL_SEARCH_MS 500u /* between two searches */

struct held_table;

/* What waits for its end, or is being ended. */
struct removal {
	struct removal *prev, *next;
	struct removals *table; /* NULL: not under way */
	void (*done)(void *user, int error);
	void *user;
	const char *directory;               /* its name; not owned */
	int dir_fd;                          /* of it, borrowed; 0: there is none */
	pid_t holder;                        /* 0: not known, or gone */
	int guard_fd;                        /* pidfd, or -1: not known, or gone */
	int holder_fd;                       /* pidfd, or -1: not known, or gone */
	bool forced;                         /* the holder is not waited for any longer */
	uint64_t force_at_ms, give_up_at_ms; /* loop time */
	uint64_t search_at_ms;               /* loop time */
	unsigned survivors;                  /* processes that lived at the last look */
};

/* Those of one table. */
struct removals {
	uv_loop_t *loop;
	struct held_table *held; /* whose control groups there are; NULL: none */
	uv_timer_t timer;
	struct attempts attempts; /* to look at what may be theirs */
	struct removal *list;
};

void removals_open(struct removals *t, uv_loop_t *loop);

/* No end is told any more. The memory is the caller's until the loop has closed the timer. */
void removals_close(struct removals *t);

/*
 * End it in wait_ms, unless removal_cancel() comes before; a holder that has been stopped is continued so that it
 * can do it by itself. r has been filled in as far as known: done (called once, never from inside this function),
 * user, directory, dir_fd, holder. guard_fd: of its guard, borrowed for the call; -1: it is looked for. The error is 0, or -EBUSY:
 * r->survivors could not be ended in time.
 */
void removal_start(struct removals *t, struct removal *r, int guard_fd, unsigned wait_ms);

/* The holder will not do it: begin at once. Harmless when nothing is under way. */
void removal_force(struct removal *r);

/* The holder has done it, and is about to end: see to it, should it have been stopped just now. */
void removal_finish(struct removal *r);

/* Forget it; harmless when nothing is under way. */
void removal_cancel(struct removal *r);

/* A pidfd of a holder's guard, the caller's; -1: it has none. */
int removal_open_guard(pid_t holder);

/* Let a holder (0: not known) go on, if it has been stopped. */
void removal_continue(pid_t holder);

/* Whether a holder (0: not known) cannot answer, as its state says: it has been stopped, or is being traced. */
bool removal_is_stopped(pid_t holder);
