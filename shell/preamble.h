/*
 * The preamble of a command that runs beside a session: bash code that sets the environment, functions and aliases of
 * the session's shell (see shell/exec/shell_environment.h), and then the variables of the request. Pure.
 */
#pragma once

#include <stddef.h>

/* Input of a preamble. All is borrowed for the call, without NULs. */
struct preamble {
	const char *text; /* from shell_environment_ask(); may be empty */
	size_t length;
	const char *const *env_names; /* variables of the request */
	const char *const *env_values;
	size_t env_count;
};

/* The text: lines, owned by the caller. NULL if memory is short. */
char *preamble_text(const struct preamble *b, size_t *ret_length);
