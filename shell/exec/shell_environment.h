/*
 * The environment of a session's shell, for a command that runs beside it: its directory, its
 * exported variables, and (only at the prompt) its functions and aliases. Nothing is written back.
 */
#pragma once

#include "shell/exec/executor.h"

#include <stddef.h>

/* Gets the environment. The memory is the caller's. */
struct shell_environment_waiter {
	struct shell_environment_waiter *prev, *next;
	/*
	 * Called once, perhaps from inside shell_environment_ask(). cwd: the shell's directory,
	 * NULL when it is gone, "" when it cannot be read now. text: bash code that restores the
	 * exported variables and, if the shell was at its prompt, functions and aliases. Both are
	 * borrowed.
	 */
	void (*done)(void *user, const char *cwd, const char *text, size_t length);
	void *user;
};

/* Request the environment: of now if the shell is at its prompt, else of the last prompt. */
void shell_environment_ask(struct executor *x, struct shell_environment_waiter *w);

/* For exec only: ask the shell, if a waiter is there and the shell is at its prompt. */
void shell_environment_at_prompt(struct executor *x);

/* For exec only: answer the waiters; the shell has written its state, or the session is over. */
void shell_environment_answer(struct executor *x);

/* For exec only: part of exec_tick(). */
void shell_environment_tick(struct executor *x);
