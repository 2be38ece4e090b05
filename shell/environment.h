/* The environment that shells and commands start with: little of the server's, which may have secrets in its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ENVIRONMENT_NAME_MAX 255u /* of a variable that is asked for */

/*
 * What of the server's environment (base: a NULL-terminated list of NAME=VALUE) goes on to its shells: the few variables
 * that a login has as well, and count that were asked for: "NAME" as base has it, if it does, or "NAME=VALUE", which win.
 * Each must be one that environment_may_ask() takes.
 * Returns a list owned by the caller (environment_destroy), or NULL when memory is short.
 */
char **environment_pass(char *const *base, const char *const *asked, size_t count);

/* Whether NAME or NAME=VALUE may be asked for: not what is between the server and those who have started it. */
bool environment_may_ask(const char *asked);

/*
 * Build one: TERM and COLORTERM of ours, then what environment_pass() has given, then count pairs of names and values;
 * the later win. Where none of that names an encoding (LC_ALL, LC_CTYPE, LANG), LANG is C.UTF-8, as the terminal is.
 * Returns a list owned by the caller (environment_destroy), or NULL when memory is short.
 */
char **environment_create(
	char *const *base, const char *const *names, const char *const *values, size_t count);

/* A list with one more variable, which wins; the same returns. */
char **environment_with(char *const *base, const char *name, const char *value);

/* Free a list; NULL is fine. */
void environment_destroy(char **environment);

/* Whether name can name a variable: [A-Za-z_][A-Za-z0-9_]*. */
int environment_name_is_valid(const char *name);
