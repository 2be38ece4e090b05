/*
 * The preamble: what a command that runs beside a session takes over from the session's shell: text for bash that makes its
 * environment, functions and aliases those of the session (see shell/exec/shell_environment.h), and sets the variables of the
 * request, which win. Pure.
 */
#pragma once

#include <stddef.h>

/* What a preamble is made of. All is borrowed for the call; text is without NUL. */
struct preamble {
	const char *text; /* what shell_environment_ask() has given; may be empty */
	size_t length;
	const char *const *env_names; /* of the request */
	const char *const *env_values;
	size_t env_count;
};

/* The text, to be freed; lines, ended by a line break. NULL when there is no memory. */
char *preamble_text(const struct preamble *b, size_t *ret_length);
