/*
 * What has a holder: a directory of its own below the runtime directory, the link to the holder, turns to consume what
 * that has written, who waits for its start and its end. Sessions and processes are both that, and something more: what
 * they do about it is in their struct held_kind.
 *
 * It is in its table from held_add() on, is being ended from held_retire() on, and is in nobody's hands after
 * held_release(). See shell/held/table.h, adoption.h and ending.h.
 */
#pragma once

#include "pty/link.h"
#include "shell/held/removal.h"
#include "shell/held/turns.h"
#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>
#include <uv.h>

struct held;
struct held_table;

/* Someone who waits for a start or an end; the memory is the waiter's. */
struct held_waiter {
	struct held_waiter *next;
	/* error: 0, or a negative errno and what failed. */
	void (*done)(struct held_waiter *w, struct held *h, enum report_stage stage, int error);
};

/* Where one is in its table. */
enum held_place { HELD_NOWHERE, HELD_LISTED, HELD_ENDING };

struct held {
	UT_hash_handle hh;        /* by id, while it is listed */
	struct held *prev, *next; /* in the list of those being ended */
	struct held_table *table; /* not owned */
	enum held_place place;    /* in it */
	char id[NAME_ID_MAX + 1]; /* to be filled in before it is added */
	char *directory;          /* name below that of its table; owned */
	struct link link;         /* to its holder */
	struct turn turn;         /* to consume what that has written */
	bool adopted;             /* found when the server started */
	bool unresponsive;        /* and its holder does not answer */
	uint64_t found_ms;        /* loop time, if adopted */
	bool holder_lost;         /* nobody writes the ring any more */
	bool taken;               /* another server has the holder */
	uint64_t taken_ms;        /* loop time when it was taken last, by whomever; 0: never */
	bool taken_told;          /* and that has been said */
	bool stuck; /* being ended, and that some of it could not be ended in time has been said */
	int guard_fd;                 /* pidfd of the guard, -1: not known */
	struct removal removal;       /* its end, or that of those whom its holder has left */
	unsigned survivors;           /* that could not be ended in time */
	struct held_waiter *starters; /* who waits for its start */
	struct held_waiter *enders;   /* and for its end */
};

/*
 * What is different between the kinds. None is called from inside the function that caused it, but where it says so; a
 * callback may be NULL where it says so.
 */
struct held_kind {
	const char *folder; /* of its directories, below the runtime directory */
	const char *const *files; /* what may be in a directory, in the order of their removal; up to NULL */
	const char *const *shared; /* those of them that its user reads; up to NULL; or NULL */
	const char *group; /* how the names of their control groups begin; the directory's follows */
	const char *prefix; /* and in DIRECTORY_SHELL whatever begins so; or NULL */
	/* How complaints begin. */
	const char *cannot_adopt, *cannot_remove;
	/* Something went wrong that nobody waits for. id: may be "". Called from anywhere. */
	void (*complain)(struct held_table *t, const char *id, const char *what, int error);
	/* Called now and then; may end any. */
	void (*sweep)(struct held_table *t);

	/* Consume a turn's worth of what its holder has written. */
	enum turn_next (*take_turn)(struct held *h);
	/* What its link has to say, see there. lost: holder_lost and taken are set. */
	void (*attached)(struct held *h);
	void (*failed)(struct held *h, enum report_stage stage, int error);
	void (*lost)(struct held *h);
	void (*terminal)(struct held *h, const char *path); /* may be NULL */
	void (*regained)(struct held *h); /* it had been taken, and is ours again; may be NULL */
	/* The link has been closed: it may be freed, after held_finish(). */
	void (*closed)(struct held *h);

	/*
	 * Make one of what is in a directory: with its id and what else is known without its holder. dir_fd is taken,
	 * also on failure: a negative errno. Called from held_adopt(), as are the three after it.
	 */
	int (*load)(struct held_table *t, const char *directory, int dir_fd, struct held **ret_held);
	/* It has its place now, and is about to be attached to. */
	void (*found)(struct held *h);
	/*
	 * Its holder is being attached to (error: 0), has been stopped (-EAGAIN), or why it cannot be. Returns whether
	 * it is needed for its end alone, which has been seen to. May be NULL.
	 */
	bool (*spares_holder)(struct held *h, int error);
	/* It was being ended, and goes on with that. */
	void (*end_again)(struct held *h);
	/* Whether it was found and its holder has yet to answer. */
	bool (*is_awaited)(const struct held *h);
	/* Its holder has gone before it answered. */
	void (*end_unseen)(struct held *h);
	/* What is shown of it is different; may be NULL. */
	void (*changed)(struct held *h);
	/* Order of the table, as for qsort(); may be NULL. */
	int (*compare)(const struct held *a, const struct held *b);

	/* All of it has been ended: its directory is to be removed, and it released. */
	void (*ended)(struct held *h);
	/* Let go of it, with held_release(); its holder lives on. */
	void (*release)(struct held *h);
};

/*
 * Begin, with zeroed memory. directory: its name, borrowed. dir_fd: of it, taken, also on failure. Returns 0, then it is
 * for held_let_go(); or a negative errno, then for held_finish().
 */
int held_init(struct held *h, struct held_table *t, const char *directory, int dir_fd);

/* Start its holder, within the bounds of its table. The options are completed here. Returns as link_start() does. */
int held_start(struct held *h, struct spawn_options *options);

/*
 * Let whose holder it is read a file in its directory, which stays ours so that nobody puts anything else there. Harmless
 * where that are we, or when there is no such file.
 */
void held_share(const struct held *h, const char *name);

/* Open the memfd that its holder has at this place (enum wire_place). Returns it or a negative errno. */
int held_open_place(const struct held *h, int place, int flags);

/* Free what it has, but not its own memory. */
void held_finish(struct held *h);

/* Close the link, if that has not been done; its kind hears when that is over. What is being ended is left alone. */
void held_let_go(struct held *h);

/* Take back what another process has attached to, if we are the server still; else it is lost. */
void held_take_back(struct held *h);

/* Why it cannot be attached to, for people; `otherwise` where the error says enough. */
const char *held_why(int error, const char *otherwise);

/* The loop that it lives in. */
uv_loop_t *held_loop(const struct held *h);

/* Have it looked at in the next turn of the loop, whether its holder has written anything or not. */
void held_make_busy(struct held *h);

/* Its turn, now; not from inside of one of its own. */
void held_take_turn(struct held *h);

/* Wait, in one of its lists. The latest is told first. */
void held_wait(struct held_waiter **list, struct held_waiter *w);

/* Tell all who wait in the list, and empty it. */
void held_answer(struct held_waiter **list, struct held *h, enum report_stage stage, int error);

/*
 * Whether what its attached holder is asked for is done soon: false when that has been stopped, and has said nothing
 * for LINK_SILENT_MS. One that is only slow heeds.
 */
bool held_heeds(const struct held *h);
