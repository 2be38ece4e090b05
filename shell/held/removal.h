/*
 * Killing the processes of a held object after its holder has died or does not respond. This is done by the guard
 * (pty/holder/guard.c), the parent of the holder: on SIGTERM it kills the holder and then everything below, and exits
 * last, which ends the removal. All processes of the control group, if there is one, are killed as well.
 *
 * If the guard was killed, the server kills what is below the holder. If neither pid is known, the lock of the
 * directory shows whether one of them is left, and it is searched for among all processes.
 */
#pragma once

#include "shell/proc/attempt.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#define REMOVAL_WAIT_MS 1500u    /* time for a holder to answer, after its grace */
#define REMOVAL_GIVE_UP_MS 3000u /* from the first SIGKILL until survivors are reported */
#define REMOVAL_AGAIN_MS 5000u   /* between two attempts */
#define REMOVAL_SEARCH_MS 500u   /* between two searches */

struct held_table;

/* One removal, in progress or not. */
struct removal {
	struct removal *prev, *next;
	struct removals *table; /* NULL: not in progress */
	void (*done)(void *user, int error);
	void *user;
	const char *directory;               /* its name; not owned */
	int dir_fd;                          /* open on the directory, borrowed; 0: none */
	pid_t holder;                        /* 0: unknown, or gone */
	int guard_fd;                        /* pidfd; -1: unknown, or gone */
	int holder_fd;                       /* pidfd; -1: unknown, or gone */
	bool forced;                         /* not waiting for the holder any more */
	uint64_t force_at_ms, give_up_at_ms; /* loop time */
	uint64_t search_at_ms;               /* loop time */
	unsigned survivors;                  /* processes alive at the last check */
};

/* The removals of one table. */
struct removals {
	uv_loop_t *loop;
	struct held_table *held; /* its control groups are used; NULL: none */
	uv_timer_t timer;
	struct attempts attempts; /* to check suspects, which may block */
	struct removal *list;
};

/* Initialise. Cannot fail. */
void removals_open(struct removals *t, uv_loop_t *loop);

/* Cancel all removals. The memory is the caller's until the loop has closed the timer. */
void removals_close(struct removals *t);

/*
 * Start a removal that is forced after wait_ms. A stopped holder is continued, so that it can end by itself. Set
 * before, as far as known: done (called once, never from inside this function), user, directory, dir_fd, holder.
 * guard_fd: the guard's pidfd, borrowed for the call; -1: it is looked up. done gets 0, or -EBUSY if r->survivors could
 * not be killed in time.
 */
void removal_start(struct removals *t, struct removal *r, int guard_fd, unsigned wait_ms);

/* Do not wait for the holder any longer. Does nothing if not in progress. */
void removal_force(struct removal *r);

/* The holder has killed everything and is about to exit: make sure that it does, even if it was stopped just now. */
void removal_finish(struct removal *r);

/* Cancel; does nothing if not in progress. */
void removal_cancel(struct removal *r);

/* A pidfd of a holder's guard, owned by the caller; -1: there is none. */
int removal_open_guard(pid_t holder);

/* Continue a stopped holder (0: none). */
void removal_continue(pid_t holder);

/* Whether the holder (0: unknown) cannot respond because it is stopped or being traced. */
bool removal_is_stopped(pid_t holder);
