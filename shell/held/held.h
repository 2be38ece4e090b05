/*
 * A held object: something that has a holder (a session or a process), with a directory below the runtime directory,
 * the link to the holder, turns to consume the holder's output, and waiters for its start and end. What differs between
 * the kinds is in their struct held_kind.
 *
 * It is in its table from held_add() on, is being ended from held_begin_end() on, and is in no table after held_release().
 * See table.h, adoption.h and ending.h.
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

/* Waits for a start or an end; the caller owns the memory. */
struct held_waiter {
	struct held_waiter *next;
	/* error: 0, or a negative errno, and then stage is what failed. */
	void (*done)(struct held_waiter *w, struct held *h, enum report_stage stage, int error);
};

/* Where an object is in its table. */
enum held_place { HELD_UNLISTED, HELD_LISTED, HELD_ENDING };

/* One held object. */
struct held {
	UT_hash_handle hh;        /* by id, while it is listed */
	struct held *prev, *next; /* in the list of those being ended */
	struct held_table *table; /* not owned */
	enum held_place place;    /* where it is in the table */
	char id[NAME_ID_MAX + 1]; /* set before held_add() */
	char *directory;          /* name below the table's directory; owned */
	struct link link;         /* to its holder */
	struct turn turn;         /* to consume the holder's output */
	bool adopted;             /* found when the server started */
	bool unresponsive;        /* adopted, and its holder does not answer */
	uint64_t adopted_ms;      /* loop time of its adoption */
	bool holder_lost;         /* nothing writes the ring any more */
	bool taken;               /* holder_lost, because another process keeps the holder */
	uint64_t taken_ms;      /* loop time when another process last took the holder; 0: never */
	bool taken_reported;    /* that takeover, or a recent one, has been reported */
	bool stuck;             /* being ended, and it has been reported that processes survive */
	int guard_fd;           /* pidfd of the guard; -1: unknown */
	struct removal removal; /* of its processes */
	unsigned survivors;     /* processes that could not be killed in time */
	struct held_waiter *start_waiters; /* waiters for its start */
	struct held_waiter *end_waiters;   /* waiters for its end */
};

/*
 * What differs between sessions and processes. Unless noted, callbacks must be set, and are not called from inside the
 * function that caused them.
 */
struct held_kind {
	const char *folder; /* of its directories, below the runtime directory */
	/* Files of a directory in the order of removal, NULL-terminated. */
	const char *const *files;
	const char *const *shared; /* those that the session user reads, NULL-terminated; or NULL */
	const char *group;         /* prefix of control group names, before the directory's name */
	const char *prefix;        /* prefix of more files in DIRECTORY_SHELL; or NULL */
	/* Error texts. */
	const char *cannot_adopt, *cannot_remove;
	/* Report an error that no request waits for. id may be "". May be called from inside any function. */
	void (*report_error)(struct held_table *t, const char *id, const char *what, int error);
	/* Called periodically; may end objects. */
	void (*sweep)(struct held_table *t);

	/* Consume a turn's worth of the holder's output. */
	enum turn_next (*take_turn)(struct held *h);
	/* Events of its link, see struct link_callbacks. Before lost(), holder_lost and taken are set. */
	void (*attached)(struct held *h);
	void (*failed)(struct held *h, enum report_stage stage, int error);
	void (*lost)(struct held *h);
	void (*terminal)(struct held *h, const char *path); /* may be NULL */
	void (*regained)(struct held *h); /* it has been taken back; may be NULL */
	/* The link is closed. The object may be freed, after held_finish(). */
	void (*closed)(struct held *h);

	/*
	 * Create an object from its directory, with its id and what else is known without the holder. Owns dir_fd, also
	 * on failure (a negative errno). Called from held_adopt(), like the next three.
	 */
	int (*load)(struct held_table *t, const char *directory, int dir_fd, struct held **ret_held);
	/* It is in its table, and is about to be attached to. */
	void (*found)(struct held *h);
	/*
	 * Called when attaching to its holder: error is 0, -EAGAIN (the holder is stopped), or why it failed. Returns
	 * true if the object needs its holder only to end, and has started that. May be NULL.
	 */
	bool (*is_only_ending)(struct held *h, int error);
	/* An earlier server has begun to end it: continue. */
	void (*continue_end)(struct held *h);
	/* Whether it was found, and its holder has not answered yet. */
	bool (*is_awaited)(const struct held *h);
	/* Its holder has died before it answered. */
	void (*holder_died)(struct held *h);
	/* Its visible state has changed; may be NULL. */
	void (*changed)(struct held *h);
	/* Order of the table, as for qsort(3); may be NULL. */
	int (*compare)(const struct held *a, const struct held *b);

	/* All its processes are gone: remove the directory and release it. */
	void (*ended)(struct held *h);
	/* Forget it with held_release(); its holder lives on. */
	void (*release)(struct held *h);
};

/*
 * Initialise zeroed memory. directory: its name, borrowed. Owns dir_fd (open on the directory), also on failure.
 * Returns 0, then use held_close(); or a negative errno, then use held_finish().
 */
int held_init(struct held *h, struct held_table *t, const char *directory, int dir_fd);

/* Start its holder, within the bounds of its table; completes the options. Returns as link_start(). */
int held_start(struct held *h, struct spawn_options *options);

/*
 * Let the session user read a file in its directory. The directory stays the server's, so the user cannot create files
 * in it. Does nothing without a session user or such a file.
 */
void held_share_file(const struct held *h, const char *name);

/* Open the memfd that is descriptor holder_fd (enum wire_fixed_fd) of its holder. Returns a descriptor or a negative errno. */
int held_open_descriptor(const struct held *h, int holder_fd, int flags);

/* Free what it owns, but not its own memory. */
void held_finish(struct held *h);

/* Close the link, if it is open; the kind's closed() follows. The removal of its processes is cancelled. */
void held_close(struct held *h);

/* Take the holder back from another process, if this is still the server; otherwise treat the holder as lost. */
void held_take_back(struct held *h);

/* Why attaching failed, as a text; `fallback` for errors whose own text says it. */
const char *held_attach_error_text(int error, const char *fallback);

/* The loop of its table. */
uv_loop_t *held_loop(const struct held *h);

/* Schedule a turn for it, whether the holder has written anything or not. */
void held_schedule_turn(struct held *h);

/* Run its turn now. Not from inside its own turn. */
void held_run_turn(struct held *h);

/* Add a waiter to a list of h. The last one added is answered first. */
void held_add_waiter(struct held_waiter **list, struct held_waiter *w);

/* Answer all waiters of a list, and empty it. */
void held_answer_waiters(
	struct held_waiter **list, struct held *h, enum report_stage stage, int error);

/*
 * Whether its attached holder will respond soon. false: it is stopped, and has not answered for LINK_UNRESPONSIVE_MS. It
 * handles the requests when it continues.
 */
bool held_is_responsive(const struct held *h);
