/*
 * Runs: stateless commands, each in terminals or pipes of its own.
 *
 * A run is over when its bash has ended and no process has its output open, or RUN_LINGER_MS after
 * its bash has ended. All output that has been written by then is read. If it ends by itself, its
 * background processes live on, but their terminals or pipes are gone, so writing to them fails
 * (EIO, SIGPIPE). They get no SIGHUP, because the terminals are no process's controlling terminal;
 * see pty/throwaway.h.
 *
 * A run that is cancelled or exceeds its time limit is killed with all processes that it has
 * started, except those that have been reparented elsewhere: its runner (pty/runner.h) is their
 * subreaper. They get TERM, after a grace KILL. done() comes when all have exited, or says how many
 * could not be killed. The runner does the same when the server dies.
 *
 * Output is always read. Of each stream the first and the last bytes are kept. A loop turn reads a
 * bounded number of bytes, so that a flood does not starve other work, and all runs together keep
 * RUNS_MEMORY_MAX.
 */
#pragma once

#include "shell/output/excerpt.h"
#include "shell/store/directory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#define RUNS_MAX 256u                        /* at once */
#define RUNS_MEMORY_MAX ((size_t)256 << 20)  /* bytes of output that all of them keep */
#define RUN_COMMAND_MAX ((size_t)1 << 20)    /* bytes */
#define RUN_OUTPUT_DEFAULT ((size_t)8 << 20) /* bytes kept of each stream unless asked otherwise */
#define RUN_OUTPUT_MAX ((size_t)32 << 20)
#define RUN_GRACE_MS 2000u /* between TERM and KILL after the time limit */
#define RUN_TIMEOUT_CODE 124
#define RUN_LINGER_MS 250u       /* for writers that outlive bash, such as those of >(...) */
#define RUN_LINGER_MAX_MS 10000u /* the same, while the run is paused */

struct runs;
struct run;

/* A request for a run. All is borrowed for the call. */
struct run_options {
	const char *command;   /* for bash -c; without NUL */
	size_t command_length; /* 1 to RUN_COMMAND_MAX */
	const char *preamble;  /* bash code in front of it, see shell/preamble.h; NULL: none */
	size_t preamble_length;
	const char *cwd;              /* absolute; must exist, */
	struct directory_found found; /* which is not checked again if this says so */
	const char *const *env_names, *const *env_values;
	size_t env_count;
	const void *input;   /* standard input: these bytes; NULL: /dev/null */
	size_t input_length; /* bytes */
	int input_fd;        /* or this descriptor, if above 0 */
	bool whole;          /* kill what it has started, even if it ends by itself */
	bool spares;         /* never kill what has left the command's process group */
	bool terminals;      /* stdout and stderr are a raw PTY each; otherwise pipes */
	unsigned rows, cols; /* of the terminals */
	uint64_t timeout_ms; /* 0: no limit */
	size_t output_max;   /* bytes kept of each stream, half at its beginning, half at its end */
};

/* The output streams of a run. */
enum run_stream { RUN_STDOUT, RUN_STDERR, RUN_STREAMS };

/* The result of a run. All is borrowed for the callback. */
struct run_result {
	int status;                    /* wait(2) status */
	bool timed_out;                /* then the exit code is 124 */
	bool cancelled;                /* by run_cancel() */
	uint64_t started_ms, ended_ms; /* wall clock */
	uint64_t duration_us;          /* by the monotonic clock */
	struct excerpt_parts output[RUN_STREAMS];
	unsigned survivors; /* processes that could not be killed */
	bool open; /* a process still had its output open, and may have written more later */
};

/* Called with the user of run_start(). */
struct run_callbacks {
	/* It runs; called from run_start(). May be NULL. */
	void (*started)(void *user, pid_t pid);
	/* Output; may be NULL. Neither this nor done() is called from inside run_start(). */
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/* It is over. Called once; the run is freed afterwards. */
	void (*done)(void *user, const struct run_result *result);
};

struct bounds;

/* The configuration of all runs. */
struct runs_config {
	const char *holder;          /* path of ringside-holder; borrowed */
	char *const *environment;    /* that commands inherit; borrowed */
	long nofile;                 /* soft limit of descriptors for them; 0: ours */
	const struct bounds *bounds; /* sandbox and limits; borrowed; NULL: none */
};

/* Create *ret_runs. Returns 0 or a negative errno. */
int runs_open(uv_loop_t *loop, const struct runs_config *config, struct runs **ret_runs);

/* Cancel all runs. Poll runs_idle() for their end. */
void runs_cancel_all(struct runs *all, unsigned grace_ms);

/* The number of runs that have been started at least min_age_ms ago. */
unsigned runs_count(const struct runs *all, uint64_t min_age_ms);

/* Whether there is no run. */
bool runs_idle(const struct runs *all);

/*
 * Kill all runs with everything they have started, wait for that, and call done() of each. Then
 * close `all`, which is freed in a later turn of the loop. NULL is allowed.
 */
void runs_close(struct runs *all);

/*
 * Start a run. Returns 0, or a negative errno and nothing has been started: -EINVAL (command or
 * cwd), -ENOENT, -ENOTDIR, -EACCES, -ENAMETOOLONG or -ELOOP (cwd), -ERR_LIMIT (RUNS_MAX at once),
 * -E2BIG (the environment is too large), -EXDEV (cwd is outside the sandbox), -ERR_NOT_INSTALLED (there is no
 * bash), or another error of the system.
 */
int run_start(struct runs *all, const struct run_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);

/*
 * Send TERM to all its processes, and KILL after the grace. done() follows, not from inside this. A
 * second call only has an effect with a shorter grace.
 */
void run_cancel(struct run *r, unsigned grace_ms);

/* Stop or resume reading its output: it blocks in write(2) meanwhile. Its end reads the rest. */
void run_pause(struct run *r, bool pause);

/* Read what its pipes or terminals have now, also while it is paused, and call output(). */
void run_drain(struct run *r);

/* Exit code: 0 to 255, 128 + n for signal n, RUN_TIMEOUT_CODE after the time limit. */
int run_exit_code(const struct run_result *result);
