/* The environment that a session's shell starts with. */
#pragma once

#include <stddef.h>

/*
 * Build one: `base` (a NULL-terminated list of NAME=VALUE) without what describes the terminal that the
 * server was started in and without the server's own settings, then TERM and COLORTERM of ours, then
 * count pairs of names and values, which win.
 * Returns a list owned by the caller (environment_destroy), or NULL when memory is short.
 */
char **environment_create(
	char *const *base, const char *const *names, const char *const *values, size_t count);

/* Free a list; NULL is fine. */
void environment_destroy(char **environment);

/* Whether name can name a variable: [A-Za-z_][A-Za-z0-9_]*. */
int environment_name_is_valid(const char *name);
