/*
 * The table of sessions: creates them (once, even for simultaneous requests), finds and ends them, adopts those of an
 * earlier server, and ends idle ones. The files of a session are in one directory below the runtime directory:
 *
 *   RUNTIME/lock held by the server, see shell/store/runtime_lock.h
 *   RUNTIME/sessions/ID+SUFFIX/ "s" and the FIFOs (the holder's), "meta.json", "ending" once it is ending
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

/* Configuration; strings are borrowed for the table's life. */
struct sessions_config {
	const char *runtime_dir;  /* existing, 0700, the server's */
	const char *holder;       /* path of ringside-holder */
	const char *cwd;          /* default working directory */
	char *const *environment; /* inherited by sessions */
	const char *socket;       /* path for programs inside to reach the server; NULL: none */
	size_t ring_size;         /* bytes */
	unsigned scrollback;      /* lines of a screen's scrollback */
	bool clipboard;           /* programs may set the clipboards of drivers */
	unsigned max_sessions;
	unsigned ended_ttl_s; /* seconds that an exited session is kept; 0: for ever */
	/* Bytes of all screens together, see shell/pane/budget.h; 0: no limit. */
	size_t screen_memory;
	unsigned threads; /* for screens; 0: the loop draws them */
	long nofile;      /* soft limit of descriptors for shells; 0: the server's */
	/*
	 * The lock of the server that this process was before it executed this program, and whose children it has; taken. NULL:
	 * acquire it.
	 */
	struct runtime_lock *lock;
	const struct bounds *bounds; /* of shells; NULL: none */
};

/* Events of the table. */
struct sessions_callbacks {
	/* The list, or something shown in it, has changed. */
	void (*changed)(void *user);
	/* An error that no request waits for. id may be "". */
	void (*failed)(void *user, const char *id, const char *what, int error);
	/* An exec has ended; may be NULL. */
	void (*executed)(void *user, const struct session *session, const struct exec *exec);
	/* A shell has ended with this wait(2) status and was replaced; may be NULL. */
	void (*restarted)(void *user, const struct session *session, int wait_status);
};

/* Counters for /metrics. */
struct sessions_counters {
	uint64_t created, adopted, ended, exited, shells_restarted, holders_lost;
	uint64_t start_failures;
	uint64_t holders_regained; /* taken back from other processes */
	uint64_t bytes_out;
	struct pane_counters panes;
	uint64_t queries_answered, replies_lost;
	uint64_t blocks_not_kept;
};

/* The table. */
struct sessions {
	struct sessions_config config;
	const struct sessions_callbacks *callbacks;
	void *user;
	uv_loop_t *loop;
	struct held_table held;     /* the sessions */
	struct executors executors; /* shared by their executors */
	struct waits_all waits;     /* shared by their waits */
	struct runtime_lock lock;
	struct budget screens;   /* memory of all screens */
	struct workers *workers; /* for screens; NULL: none */
	bool adopting;           /* no client is served yet: screens are updated later */
	bool few_descriptors;    /* that has been reported */
	bool draining;           /* no session is created any more */
	bool leaves;             /* the server ends: clients will reconnect to the next one */
	struct sessions_counters counters;
};

/* Lock the runtime directory and open the table. Returns 0, -EBUSY (locked by another server), or a negative errno. */
int sessions_open(struct sessions *s, uv_loop_t *loop, const struct sessions_config *config,
	const struct sessions_callbacks *callbacks, void *user);

/* The lock and path of the runtime directory, for other tables in it; borrowed. */
struct held_trust sessions_trust(const struct sessions *s);

/* Attach to the holders of an earlier server. Returns how many were found, or a negative errno. */
int sessions_adopt(struct sessions *s);

/* The number of sessions with commands or input that the next server would not type; see session_is_settled(). */
unsigned sessions_unsettled(const struct sessions *s);

/* Set whether to postpone what only clients need. Then screens are updated in turns, or on request. */
void sessions_suspend(struct sessions *s, bool suspend);

/* Whether holders that were found have yet to answer, without unresponsive ones. */
bool sessions_are_adopting(const struct sessions *s);

/*
 * Create a session; an exited one with this id is replaced. waiter is called when it runs or has failed, maybe before
 * this returns 0. Otherwise returns a negative errno and does not call waiter: -EEXIST (the id is in use),
 * -ERR_DRAINING (draining), -ERR_LIMIT (too many sessions), -ERR_SCREEN_BUDGET (no memory for a screen of that size,
 * see shell/pane/budget.h), -EMFILE (too few descriptors), -EINVAL (id, name, or size), -ENOTSUP (reexec without bash),
 * -ENOENT, -ENOTDIR, -EACCES (cwd), ...
 */
int sessions_create(
	struct sessions *s, const struct session_options *options, struct session_waiter *waiter);

/*
 * Find the session of options->id or create it; simultaneous callers get the same one. *ret_created says which. Returns
 * as sessions_create(), or -ERR_UNRESPONSIVE if it exists but its holder does not respond.
 */
int sessions_get_or_create(struct sessions *s, const struct session_options *options,
	struct session_waiter *waiter, bool *ret_created);

/* The same by id, with default options; an exited session is replaced. Returns as sessions_get_or_create(). */
int sessions_get_or_replace(struct sessions *s, const char *id, struct session_waiter *waiter);

/* The session with this id, in any state but ending; NULL if there is none. */
struct session *sessions_find(const struct sessions *s, const char *id);

/* The number of sessions in the table. */
unsigned sessions_count(const struct sessions *s);

/*
 * End a session: kill its processes and its holder, and remove its files. waiter (may be NULL) is called when that is
 * done, or with -EBUSY when session->pane.held.survivors could not be killed in time, which goes on.
 */
void sessions_end(struct sessions *s, struct session *session, struct session_waiter *waiter);

/* End all sessions; poll with sessions_are_idle(). */
void sessions_end_all(struct sessions *s);

/* Whether all have ended, except stuck ones. */
bool sessions_are_idle(const struct sessions *s);

/* Close the table; holders live on. Viewers get `gone`. The loop must close the handles before s is freed. */
void sessions_close(struct sessions *s);

/* A shell has ended with this wait(2) status and was replaced. by_holder: by a new process, unread input is dropped. */
void session_shell_restarted(struct session *session, int wait_status, bool by_holder);

/* The list, or something shown in it, has changed. Internal. */
void sessions_changed(struct sessions *s);

/* Schedule a turn of a session. Internal. */
void session_schedule_turn(struct session *session);
