/*
 * An executor: a program that runs pieces of code, one after the other, and keeps what they have made. It is a run
 * (shell/run/run.h) that goes on, in the same bounds; what it says goes over a socket of its own, what its code writes over
 * the run's pipes. It ends with everything that it has started.
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

/* All is borrowed for the call. */
struct interpreter_options {
	enum language language;
	const char *cwd;              /* absolute */
	struct directory_found found; /* of that */
	const char *const *env_names, *const *env_values;
	size_t env_count;
};

/* None comes from inside interpreter_start(). */
struct interpreter_callbacks {
	/* It takes code now. */
	void (*ready)(void *user);
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/*
	 * EXECUTOR_RESULT or EXECUTOR_DONE: all that was written before has been told. record: an object; NULL when it was
	 * no JSON; borrowed.
	 */
	void (*record)(void *user, enum executor_record_type type, json_t *record);
	/* It is over, and with it what it had started; it is freed after this. broken: it did not keep to its protocol. */
	void (*ended)(void *user, int exit_code, bool broken);
};

/* Start one. Returns 0, or what run_start() returns and nothing has been started. callbacks: borrowed for its life. */
int interpreter_start(uv_loop_t *loop, struct runs *runs, const struct interpreter_options *options,
	const struct interpreter_callbacks *callbacks, void *user,
	struct interpreter **ret_interpreter);

/* Have it run code, which is UTF-8; it does nothing else now. Returns 0 or -ENOMEM. */
int interpreter_execute(struct interpreter *e, uint64_t run, const char *code, size_t length);

/* SIGINT, to it and to what it waits for: that run is to end. */
void interpreter_interrupt(struct interpreter *e, uint64_t run);

/* Do not read what it says and writes for a while: it waits then. */
void interpreter_pause(struct interpreter *e, bool pause);

/* KILL to everything; ended() follows, but not from inside this. */
void interpreter_kill(struct interpreter *e);
