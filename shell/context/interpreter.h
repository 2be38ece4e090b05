/*
 * An executor process: a run (shell/run/run.h) that executes pieces of code until it is killed, within a run's
 * limits. The protocol uses a socket of its own; the code's output uses the run's pipes. Its processes are
 * killed with it.
 */
#pragma once

#include "shell/context/executor_record.h"
#include "shell/context/language.h"
#include "shell/run/run.h"
#include "shell/store/directory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct interpreter;

/* What to start. All is borrowed for the call. */
struct interpreter_options {
	enum language language;
	const char *cwd;              /* absolute */
	struct directory_found found; /* of cwd */
	const char *const *env_names, *const *env_values;
	size_t env_count;
};

/* Callbacks; none comes from inside interpreter_start(). */
struct interpreter_callbacks {
	/* It accepts code. */
	void (*ready)(void *user);
	/* The code has written something. */
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/*
	 * EXECUTOR_RESULT or EXECUTOR_DONE; all output that was written before has been delivered. record: an object; NULL:
	 * it was invalid JSON; borrowed.
	 */
	void (*record)(void *user, enum executor_record_type type, json_t *record);
	/* It has ended with all its processes, and is freed after this. broken: it sent an invalid frame. */
	void (*ended)(void *user, int exit_code, bool broken);
};

/* Start an executor. callbacks: borrowed for its life. Returns 0 or as run_start(). */
int interpreter_start(uv_loop_t *loop, struct runs *runs, const struct interpreter_options *options,
	const struct interpreter_callbacks *callbacks, void *user,
	struct interpreter **ret_interpreter);

/* Run code (UTF-8); no other code may be running. run: its number. Returns 0 or -ENOMEM. */
int interpreter_execute(struct interpreter *e, uint64_t run, const char *code, size_t length);

/* Interrupt a run: SIGINT to the executor and the programs that it waits for. */
void interpreter_interrupt(struct interpreter *e, uint64_t run);

/* Stop reading its frames and output, or go on. It blocks when the buffers are full. */
void interpreter_pause(struct interpreter *e, bool pause);

/* Kill it with all its processes; ended() follows, not from inside this. */
void interpreter_kill(struct interpreter *e);
