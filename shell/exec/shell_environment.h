/*
 * The environment of a session's shell, for a command that runs beside it: where it is and what it exports, and at its
 * prompt its functions and aliases. Nothing is written back.
 */
#pragma once

#include "shell/exec/executor.h"

#include <stddef.h>

/* Someone who waits for it; the memory is the waiter's. */
struct shell_environment_waiter {
	struct shell_environment_waiter *prev, *next;
	/*
	 * cwd: where the shell is, NULL when there is none, "" when that could not be found out now; text: bash that restores what it exports and, unless something else ran,
	 * its functions and aliases. Both are borrowed. Once, perhaps from inside shell_environment_ask().
	 */
	void (*done)(void *user, const char *cwd, const char *text, size_t length);
	void *user;
};

/* Ask for it: of now when the shell is at its prompt, otherwise of its last one. */
void shell_environment_ask(struct executor *x, struct shell_environment_waiter *w);

/* For exec itself: the shell may be at its prompt, so ask it, if somebody waits for that. */
void shell_environment_at_prompt(struct executor *x);

/* The shell has written it down; or the session is over, or it has not in time. */
void shell_environment_told(struct executor *x);

void shell_environment_tick(struct executor *x);
