/*
 * The table of processes: starting, finding, adopting what an earlier server has left, and
 * forgetting ended ones. Each process has a directory:
 *
 *   RUNTIME/processes/ID+SUFFIX/   "s" and the FIFOs (the holder's), "process.json", "i" (standard input),
 *                                  "command" and "preamble" unless they are passed as an argument,
 *                                  "output" once it has ended, instead of the holder's files,
 *                                  "ending" once it is being removed
 *
 * An ended process is kept until it is too old or too many have ended since. While descendants of
 * it live, it is kept with its holder.
 */
#pragma once

#include "shell/held/table.h"
#include "shell/process/process.h"
#include "shell/store/directory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define PROCESSES_MAX_DEFAULT 512u  /* running ones */
#define PROCESSES_KEPT_DEFAULT 100u /* ended ones */
#define PROCESSES_TTL_DEFAULT 3600u /* seconds */
#define PROCESSES_GRACE_MS 5000u    /* between TERM and KILL */
#define PROCESSES_RING_DEFAULT ((size_t)1 << 20)
#define PROCESSES_TOTAL_MAX 4096u /* running and kept, whatever the options say */
#define PROCESSES_FRESH_MS 60000u /* younger ended ones are kept beyond `kept` */

struct bounds;

/* The table's configuration. All is borrowed for the table's life. */
struct processes_config {
	const char *runtime_dir;     /* exists, is ours, and is locked by the session table */
	const char *holder;          /* path of ringside-holder */
	const char *cwd;             /* default working directory */
	char *const *environment;    /* that processes inherit */
	size_t ring_size;            /* bytes of output kept of each */
	unsigned max;                /* running ones */
	unsigned kept;               /* ended ones */
	unsigned ttl_s;              /* how long ended ones are kept; 0: without limit */
	long nofile;                 /* soft limit of descriptors; 0: ours */
	const struct bounds *bounds; /* sandbox and limits; NULL: none */
	struct held_trust trust;     /* of the session table */
};

/* Called with the user of processes_open(). */
struct processes_callbacks {
	/* A command has ended. */
	void (*ended)(void *user, const struct process *process);
	/* An error that no caller gets. id may be "". */
	void (*failed)(void *user, const char *id, const char *what, int error);
};

/* For /metrics. */
struct processes_counters {
	uint64_t started, adopted, ended, timed_out, killed, holders_lost;
	uint64_t start_failures, removed;
	uint64_t keep_failures;
	uint64_t holders_regained; /* from another server that had attached to them */
	uint64_t bytes_out, bytes_in;
};

/* A request for a process. Strings are borrowed for the call; NULL or 0: the default. */
struct process_options {
	const char *id;
	const char *command; /* UTF-8 without NUL */
	size_t command_length;
	const char *cwd;              /* absolute */
	struct directory_found found; /* of cwd */
	const char *session;          /* id of the session that it is started from */
	const char *preamble;         /* bash code that restores a session's environment */
	size_t preamble_length;
	const char *const *env_names, *const *env_values; /* override both environments */
	size_t env_count;
	uint64_t timeout_ms;
	bool input_pipe; /* a standard input that can be written to; otherwise /dev/null */
	bool hold;       /* a reader of the whole output will come, see process_hold() */
};

/* The table. */
struct processes {
	struct processes_config config;
	const struct processes_callbacks *callbacks;
	void *user;
	uv_loop_t *loop;
	struct held_table held; /* all processes, in the order of their start */
	unsigned running;       /* those that have not ended */
	bool move_failing;      /* outputs cannot be moved to files; this has been reported */
	struct processes_counters counters;
	bool draining; /* processes_start() returns -ERR_DRAINING */
};

/* Open the table, and create its directory. Returns 0, or a negative errno. */
int processes_open(struct processes *t, uv_loop_t *loop, const struct processes_config *config,
	const struct processes_callbacks *callbacks, void *user);

/* Attach to the holders of an earlier server. Returns their number, or a negative errno. */
int processes_adopt(struct processes *t);

/* Whether found holders have yet to answer; those that cannot answer do not count. */
bool processes_adopting(const struct processes *t);

/*
 * Start a process; an ended one with its id is replaced. Returns 0, and waiter is called later,
 * when it runs or has failed. Or returns a negative errno and waiter is not called: -EEXIST (the id
 * is running), -ERR_LIMIT (too many), -EINVAL (id, command or cwd), -E2BIG (command), -EILSEQ (command
 * or cwd is not UTF-8), -ENOENT, -ENOTDIR or -EACCES (cwd), -ERR_DRAINING (draining), or other errors
 * of the system.
 */
int processes_start(
	struct processes *t, const struct process_options *options, struct process_waiter *waiter);

/* The process of this id, unless it is being removed; NULL if there is none. */
struct process *processes_find(const struct processes *t, const char *id);

/* The number of processes in the table. */
unsigned processes_count(const struct processes *t);

/* The process after p, which must be in the table; the first for NULL. NULL after the last. */
struct process *process_next(const struct processes *t, const struct process *p);

/* Whether an id is allowed: name_is_id(), and none of the words that the API uses in its place. */
bool processes_id_is_valid(const char *id);

/* Remove a process: kill its tree, end its holder, remove its files. waiter may be NULL. */
void processes_remove(struct process *p, unsigned grace_ms, struct process_waiter *waiter);

/* Remove all. Poll processes_idle() for the end. */
void processes_remove_all(struct processes *t);

/* Whether no removal is in progress; what cannot be killed now does not count. */
bool processes_idle(const struct processes *t);

/* Close the table; holders live on. The memory must stay until the loop has closed all handles. */
void processes_close(struct processes *t);
