/*
 * The table of processes: starting, finding, adopting what an earlier server left, and forgetting those that
 * have ended. Everything that one needs is in a directory of its own:
 *
 *   RUNTIME/processes/ID+SUFFIX/   "s" and the FIFOs (the holder's), "process.json", "i" (standard input),
 *                                  "command" and "preamble" when they are not passed as an argument,
 *                                  "output" when it has ended, then the holder's are no more,
 *                                  "ending" once it is being removed
 *
 * An ended process is kept until it is too old or too many have ended since. One that left others behind is
 * kept, with its holder, as long as they live.
 */
#pragma once

#include "shell/held/table.h"
#include "shell/process/process.h"
#include "shell/store/directory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define PROCESSES_MAX_DEFAULT 512u  /* that run at once */
#define PROCESSES_KEPT_DEFAULT 100u /* of those that have ended */
#define PROCESSES_TTL_DEFAULT 3600u /* seconds */
#define PROCESSES_GRACE_MS 5000u    /* between TERM and KILL */
#define PROCESSES_RING_DEFAULT ((size_t)1 << 20)
#define PROCESSES_TOTAL_MAX 4096u /* running and kept, whatever the options say */
#define PROCESSES_FRESH_MS \
	60000u /* so young ones are kept beyond the number, if the total allows */

struct bounds;

/* All strings are borrowed for the table's life. */
struct processes_config {
	const char *runtime_dir;     /* existing, ours, and locked by the sessions */
	const char *holder;          /* path of ringside-holder */
	const char *cwd;             /* default working directory */
	char *const *environment;    /* what processes inherit */
	size_t ring_size;            /* bytes of output kept of each */
	unsigned max;                /* that run at once */
	unsigned kept;               /* that have ended */
	unsigned ttl_s;              /* how long they are kept; 0 = for ever */
	long nofile;                 /* soft limit of descriptors; 0 = ours */
	const struct bounds *bounds; /* what they live in; NULL: nothing */
	struct held_trust trust;     /* of the sessions that have locked the directory */
};

struct processes_callbacks {
	void (*ended)(void *user, const struct process *process);
	/* Something went wrong that nobody waits for. id may be "". */
	void (*failed)(void *user, const char *id, const char *what, int error);
};

/* For /metrics. */
struct processes_counters {
	uint64_t started, adopted, ended, timed_out, killed, holders_lost;
	uint64_t start_failures, removed;
	uint64_t keep_failures;
	uint64_t holders_regained; /* that others had attached to */
	uint64_t bytes_out, bytes_in;
};

/* What can be chosen. Strings are borrowed for the call; NULL or 0 = the default. */
struct process_options {
	const char *id;
	const char *command; /* UTF-8 without NUL */
	size_t command_length;
	const char *cwd;              /* absolute */
	struct directory_found found; /* of cwd */
	const char *session;          /* id of the session that it is started from, to be shown */
	const char *preamble; /* bash text that restores a session's environment, functions ... */
	size_t preamble_length;
	const char *const *env_names, *const *env_values; /* win over both environments */
	size_t env_count;
	uint64_t timeout_ms;
	bool input_pipe; /* a standard input that can be written to; otherwise /dev/null */
	bool hold; /* somebody will follow its output from the beginning: see process_hold() */
};

struct processes {
	struct processes_config config;
	const struct processes_callbacks *callbacks;
	void *user;
	uv_loop_t *loop;
	struct held_table held; /* all of them, in order of their start */
	unsigned running;       /* not ended, of those in the table */
	bool keep_failing;      /* outputs cannot be moved to files now; it has been said */
	struct processes_counters counters;
	bool draining; /* none is begun any more: processes_start() returns -ESHUTDOWN */
};

/* Open the directory, which is made if need be. Returns 0 or a negative errno; then nothing is left open. */
int processes_open(struct processes *t, uv_loop_t *loop, const struct processes_config *config,
	const struct processes_callbacks *callbacks, void *user);

/* Find the holders of an earlier server and attach to them. Returns how many, or a negative errno. */
int processes_adopt(struct processes *t);

/* Whether some that were found are yet to answer, without those that cannot. */
bool processes_adopting(const struct processes *t);

/*
 * Start a process. waiter is told when it runs or has failed, and not before this returns 0. Returns a
 * negative errno and tells nobody when it cannot be begun: -EEXIST (that id is running), -EUSERS (too
 * many), -EINVAL (id, command or cwd), -E2BIG (command), -EILSEQ (command or cwd are no UTF-8),
 * -ENOENT/-ENOTDIR/-EACCES (cwd), ... One of that id that has ended is replaced.
 */
int processes_start(
	struct processes *t, const struct process_options *options, struct process_waiter *waiter);

/* The process of this id, in any state but removing; NULL if there is none. */
struct process *processes_find(const struct processes *t, const char *id);

/* Processes in the table, and the one behind p in it: the first for NULL, NULL behind the last. p must still be there. */
unsigned processes_count(const struct processes *t);
struct process *process_next(const struct processes *t, const struct process *p);

/* Whether an id may be chosen: name_is_id(), and none of the API's own words. */
bool processes_id_is_valid(const char *id);

/* Forget a process: what lives of it is killed, its holder ended, its files removed. waiter may be NULL. */
void processes_remove(
	struct processes *t, struct process *p, unsigned grace_ms, struct process_waiter *waiter);

/* Remove all. Poll with processes_idle(). */
void processes_remove_all(struct processes *t);
bool processes_idle(const struct processes *t); /* what cannot be ended now counts as done */

/* Let go of everything; holders live on. The memory is the caller's until the loop has closed all handles. */
void processes_close(struct processes *t);
