/*
 * The table of sessions: creating them (once, however many ask at the same time), finding, ending,
 * adopting what an earlier server left running, and ending what idles. Everything a session needs on
 * disk is in one directory of its own below the runtime directory:
 *
 *   RUNTIME/lock                  held by the server, see shell/store/runtime_lock.h
 *   RUNTIME/sessions/ID+SUFFIX/   "s" and the FIFOs (the holder's), "meta.json", "ending" once it is ending
 */
#pragma once

#include "shell/held/table.h"
#include "shell/session/session.h"
#include "shell/workers.h"
#include "shell/store/runtime_lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define SESSIONS_MAX_DEFAULT 256u
#define SESSIONS_KILL_GRACE_MS 300u

struct bounds;

/* All strings are borrowed for the table's life. */
struct sessions_config {
	const char *runtime_dir;  /* existing, 0700, ours */
	const char *holder;       /* path of ringside-holder */
	const char *cwd;          /* default working directory */
	char *const *environment; /* what sessions inherit */
	const char *socket;       /* by which programs in them find the server; NULL: they do not */
	size_t ring_size;         /* bytes */
	unsigned scrollback;      /* lines that a screen keeps above itself */
	bool clipboard;           /* programs may set the clipboards of those who drive */
	unsigned max_sessions;
	unsigned ended_ttl_s; /* how long the history of an ended session is kept; 0 = for ever */
	size_t screen_memory; /* bytes of all screens together, see shell/pane/budget.h; 0 = no limit */
	unsigned threads;     /* that follow screens; 0: those are followed on the loop */
	long nofile;          /* soft limit of descriptors for shells; 0 = ours */
	const struct bounds *bounds; /* what shells live in; NULL: nothing */
};

struct sessions_callbacks {
	/* The list, or something that it shows, is different. */
	void (*changed)(void *user);
	/* Something went wrong that nobody waits for. id may be "". */
	void (*failed)(void *user, const char *id, const char *what, int error);
	/* A command for a program is over; may be NULL. */
	void (*executed)(void *user, const struct session *session, const struct exec *exec);
	/* Its shell has ended with this wait(2) status, and another has taken its place; may be NULL. */
	void (*restarted)(void *user, const struct session *session, int wait_status);
};

/* For /metrics. */
struct sessions_counters {
	uint64_t created, adopted, ended, exited, shells_restarted, holders_lost;
	uint64_t start_failures;
	uint64_t holders_regained; /* that others had attached to */
	uint64_t bytes_out;
	struct pane_counters panes;
	uint64_t queries_answered, replies_lost;
	uint64_t blocks_not_kept;
};

struct sessions {
	struct sessions_config config;
	const struct sessions_callbacks *callbacks;
	void *user;
	uv_loop_t *loop;
	struct held_table held;     /* all of them */
	struct executors executors; /* what those of all share */
	struct waits_all waits;     /* what those of all share */
	struct runtime_lock lock;
	struct budget screens;   /* memory of all screens */
	struct workers *workers; /* that follow screens; NULL: there are none */
	bool adopting;           /* nobody is served: screens are left for later */
	bool few_descriptors;    /* and that has been said */
	bool draining;           /* none is begun any more */
	bool leaves;             /* the server ends: its clients come back to the next */
	struct sessions_counters counters;
};

/*
 * Take the runtime directory. Returns 0, -EBUSY when another server has it, or another negative errno; then nothing is left
 * open.
 */
int sessions_open(struct sessions *s, uv_loop_t *loop, const struct sessions_config *config,
	const struct sessions_callbacks *callbacks, void *user);

/* What tells our holders from others, for all that is in the same runtime directory; borrowed. */
struct held_trust sessions_trust(const struct sessions *s);

/* Find the holders of an earlier server and attach to them; each session starts on its own. Returns how
 * many were found, or a negative errno. */
int sessions_adopt(struct sessions *s);

/*
 * Whether nobody is served yet: as long as that is so, what is needed only when somebody looks is left for later. Their
 * screens are then brought up to date in turns, or at once when somebody wants to see one.
 */
void sessions_put_off(struct sessions *s, bool put_off);

/* Whether some that were found are yet to answer, without those that cannot. */
bool sessions_adopting(const struct sessions *s);

/*
 * Create a session. waiter is told when it runs or has failed, possibly before this returns 0.
 * Returns a negative errno and tells nobody when it cannot be begun: -EEXIST (an id that is alive),
 * -ESHUTDOWN (draining), -EUSERS (too many sessions), -EXFULL (no memory for a screen of that size, see shell/pane/budget.h), -EMFILE (too few descriptors), -EINVAL (id, name, cwd or size), -ENOTSUP (such a shell cannot reexec), -ENOENT/-ENOTDIR/-EACCES (cwd), ...
 * An ended session of that id is replaced.
 */
int sessions_create(
	struct sessions *s, const struct session_options *options, struct session_waiter *waiter);

/*
 * Find the session of options->id or create it: two callers at once get one. *ret_created says which. Returns as
 * sessions_create(), or -EHOSTDOWN when it is there but its holder does not answer.
 */
int sessions_get_or_create(struct sessions *s, const struct session_options *options,
	struct session_waiter *waiter, bool *ret_created);

/* The same of an id alone; a session whose shell has ended is replaced. Returns as sessions_get_or_create(). */
int sessions_get_or_replace(struct sessions *s, const char *id, struct session_waiter *waiter);

/* The session of this id, in any state but ending; NULL if there is none. */
struct session *sessions_find(const struct sessions *s, const char *id);

/* The one behind session in the table: the first for NULL, NULL behind the last. */
struct session *session_next(const struct sessions *s, const struct session *session);

/* Sessions in the table. */
unsigned sessions_count(const struct sessions *s);

/*
 * End a session: its processes, its holder, its files. waiter (may be NULL) hears when it is done, with -EBUSY when
 * session->pane.held.survivors could not be ended in time: then that goes on.
 */
void sessions_end(struct sessions *s, struct session *session, struct session_waiter *waiter);

/* End all. Poll with sessions_idle(). */
void sessions_end_all(struct sessions *s);
bool sessions_idle(const struct sessions *s); /* what cannot be ended now counts as done */

/*
 * Let go of everything; holders live on. Viewers are told `gone`. The memory is the caller's until the
 * loop has closed all handles.
 */
void sessions_close(struct sessions *s);

/*
 * Its shell has ended with this wait(2) status, and another has taken its place. by_holder: as another process; what
 * waited for the old one to be read is dropped.
 */
void session_shell_restarted(struct session *session, int wait_status, bool by_holder);

/* Used by session.c only. */
void sessions_changed(struct sessions *s);
void sessions_make_busy(struct sessions *s, struct session *session);
