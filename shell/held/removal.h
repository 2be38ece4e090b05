/*
 * Ending what a holder was asked to end, when it does not answer, or is no more: everybody below it and
 * everybody who carries its mark is stopped and killed, until none is left, then the holder itself.
 *
 * A holder that is alive is found by its directory, which only it has as descriptor SPAWN_DIR_FD. Who has lost
 * the holder is found by the mark (see pty/wire.h), which all of a session's processes have inherited, whatever
 * has become of their parents, environment, groups and terminals; older holders set none: then
 * the kernel session of the shell is what is known. Who has taken off the mark and left that session, and
 * whose parents are gone, is not found.
 *
 * Where it has a control group, all who are in that are killed at once, whatever they have taken off.
 *
 * All that end at the same time share one walk through /proc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#define REMOVAL_WAIT_MS 1500u /* for a holder to answer, after the grace that it was given */
#define REMOVAL_GIVE_UP_MS \
	3000u                  /* what lives so long after the first SIGKILL cannot be ended now */
#define REMOVAL_AGAIN_MS 5000u /* between two tries */

struct held_table;

/* What waits for its end, or is being ended. */
struct removal {
	struct removal *prev, *next;
	struct removals *table; /* NULL: not under way */
	void (*done)(void *user, int error);
	void *user;
	int dir_fd;            /* of its directory; not owned */
	const char *directory; /* its name; not owned */
	uint64_t mark;         /* 0: none */
	pid_t session;         /* the kernel session of its shell, 0: not known for certain */
	uint64_t lost_ticks;   /* who is younger than this does not belong to that session */
	pid_t holder;          /* 0: not known, -1: gone */
	int holder_fd;         /* pidfd of it, -1: not looked for yet, or gone */
	bool searched;         /* for the holder, in all of /proc */
	bool forced;           /* the holder is not waited for any longer */
	uint64_t force_at_ms, give_up_at_ms; /* loop time */
	unsigned survivors;                  /* of the last look, the holder among them */
};

/* Those of one table. */
struct removals {
	uv_loop_t *loop;
	struct held_table *held; /* whose control groups there are; NULL: none */
	uv_timer_t timer;
	struct removal *list;
	struct remains *remains; /* see shell/held/remains.h */
};

void removals_open(struct removals *t, uv_loop_t *loop);

/* Nothing is told any more. The memory is the caller's until the loop has closed the timer. */
void removals_close(struct removals *t);

/* The mark of what has this directory; 0: that is not a name of ours. */
uint64_t removal_mark(const char *directory);

/* Boot time in the ticks of /proc/PID/stat. */
uint64_t removal_ticks(void);

/*
 * End it in wait_ms, unless removal_cancel() comes before; a holder that has been stopped is continued so that it
 * can do it by itself. r has been filled in as far as known: done (called once, never from inside this function),
 * user, dir_fd, mark, session, lost_ticks, holder. The error is 0, or -EBUSY: r->survivors could not be ended in
 * time.
 */
void removal_start(struct removals *t, struct removal *r, unsigned wait_ms);

/* The holder will not do it: begin at once. Harmless when nothing is under way. */
void removal_force(struct removal *r);

/* The holder has done it, and is about to leave: that it does so is seen to, should it be stopped just now. */
void removal_finish(struct removal *r);

/* Forget it; harmless when nothing is under way. */
void removal_cancel(struct removal *r);

/* Let the holder with this directory (pid as far as it is known; 0: not) go on, if it has been stopped. */
void removal_continue(pid_t holder, int dir_fd);

/* Whether a holder (0: not known) cannot answer, as its state says: it has been stopped, or is being traced. */
bool removal_is_stopped(pid_t holder);
