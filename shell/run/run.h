/*
 * Runs: commands for programs, each in terminals or pipes of its own, nothing shared and nothing kept.
 *
 * A run is over when its bash has ended and nothing has its output open any more, or RUN_LINGER_MS later: what has been
 * written by then is read to the last byte. What is in the background is left alone when the run ends by itself; but its
 * terminals or pipes are gone then, so writing to them fails (EIO, SIGPIPE). No SIGHUP comes, for the terminals are no
 * process's controlling terminal; see pty/throwaway.h.
 *
 * A run that is cancelled or takes too long is ended with everything that it has started and that has not been adopted
 * elsewhere: its runner (pty/runner.h) is the subreaper of all that. First TERM, after a grace KILL; done() comes when all
 * of it is gone, or says how much could not be ended. The same becomes of it when the server is gone.
 *
 * Output is always read. Of each stream the first and the last bytes are kept; a loop turn reads so much
 * and no more, so that a flood does not starve others; all runs together keep RUNS_MEMORY_MAX.
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
#define RUN_GRACE_MS 2000u /* between TERM and KILL for those who take too long */
#define RUN_TIMEOUT_CODE 124
#define RUN_LINGER_MS 250u /* for processes that outlive bash and write, such as those of >(...) */
#define RUN_LINGER_MAX_MS 10000u /* the same, where their output is not wanted at once */

struct runs;
struct run;

/* What there is to be run. All is borrowed for the call. */
struct run_options {
	const char *command;   /* for bash -c; without NUL */
	size_t command_length; /* 1 to RUN_COMMAND_MAX */
	const char *preamble;  /* bash text that goes before it, see shell/preamble.h; NULL: none */
	size_t preamble_length;
	const char *cwd; /* absolute, must exist: checked before anything runs, unless it was: */
	struct directory_found found;
	const char *const *env_names, *const *env_values;
	size_t env_count;
	const void *input;   /* standard input: these bytes; NULL: /dev/null */
	size_t input_length; /* bytes */
	int input_fd;        /* or this, when it is above 0 */
	bool whole;          /* when it has ended by itself, what it has started is ended as well */
	bool spares; /* what has left the command's process group is not ended with it, whatever happens */
	bool terminals;      /* stdout and stderr are raw PTYs of their own; otherwise pipes */
	unsigned rows, cols; /* of the terminals */
	uint64_t timeout_ms; /* 0 = none */
	size_t output_max; /* bytes kept of each stream: the first and the last half of it; 0 = none */
};

enum run_stream { RUN_STDOUT, RUN_STDERR, RUN_STREAMS };

/* How it went. All is borrowed for the callback. */
struct run_result {
	int status;                    /* as wait(2) has it */
	bool timed_out;                /* then the exit code is 124 */
	bool cancelled;                /* by run_cancel() */
	uint64_t started_ms, ended_ms; /* wall clock */
	uint64_t duration_us;          /* not disturbed by changes of the clock */
	struct excerpt_parts output[RUN_STREAMS];
	unsigned survivors; /* processes that could not be ended */
	bool open;          /* something still had its output open, and may have more to write */
};

struct run_callbacks {
	/* It runs; called from run_start(). May be NULL. */
	void (*started)(void *user, pid_t pid);
	/* It has written something. May be NULL. Neither this nor done() comes from inside run_start(). */
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/* It is over; once. The run is freed after it. */
	void (*done)(void *user, const struct run_result *result);
};

struct bounds;

struct runs_config {
	const char *holder;          /* path of ringside-holder; borrowed */
	char *const *environment;    /* what commands inherit; borrowed */
	long nofile;                 /* soft limit of descriptors for them; 0 = ours */
	const struct bounds *bounds; /* what they live in; borrowed; NULL: nothing */
};

/* Begin. Returns 0 or a negative errno. */
int runs_open(uv_loop_t *loop, const struct runs_config *config, struct runs **ret_runs);

/* Cancel all. Poll with runs_idle(). */
void runs_cancel_all(struct runs *all, unsigned grace_ms);
bool runs_idle(const struct runs *all);

/*
 * Kill what still runs, with everything it has started, which is waited for; done() of each is called.
 * Then free all: the handles are closed when the loop has turned. NULL is fine.
 */
void runs_close(struct runs *all);

/*
 * Start one. Returns 0, or a negative errno and nothing has been started: -EINVAL (command or cwd),
 * -ENOENT, -ENOTDIR, -EACCES, -ENAMETOOLONG or -ELOOP (cwd), -EUSERS (RUNS_MAX at once), -E2BIG (an
 * environment that the system does not take), -EXDEV (cwd is not where commands live), -ENOEXEC (there is no bash), or whatever the system lacks.
 */
int run_start(struct runs *all, const struct run_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);

/*
 * TERM to everything it has started, KILL after the grace; done() follows, but not from inside this. Once
 * more: only a shorter grace changes something.
 */
void run_cancel(struct run *r, unsigned grace_ms);

/*
 * Do not read its output for a while, or do again: it waits when nobody takes what it writes. What there is when it
 * ends is read all the same.
 */
void run_pause(struct run *r, bool pause);

/* Read what its pipes or terminals have by now, also while it is paused: output() is called for it. */
void run_drain(struct run *r);

/* 0 to 255: 128 + n when signal n has ended it, RUN_TIMEOUT_CODE when it took too long. */
int run_exit_code(const struct run_result *result);
