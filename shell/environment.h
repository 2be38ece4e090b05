/* The environment of shells and commands. It has few of the server's variables, which may contain secrets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ENVIRONMENT_NAME_MAX 255u /* longest name of a requested variable */

/*
 * Build the list of variables that shells inherit from base (the server's, NULL-terminated NAME=VALUE): the few that a
 * login has, and count requested ones, "NAME" (copied from base if it is there) or "NAME=VALUE", which win. Each must
 * pass environment_may_request(). Returns a list for words_free(), or NULL if memory is short.
 */
char **environment_inherit(char *const *base, const char *const *requested, size_t count);

/* Whether NAME or NAME=VALUE may be requested: the name is valid, and not private to the server and what started it. */
bool environment_may_request(const char *requested);

/*
 * Build an environment: TERM and COLORTERM, then base (of environment_inherit()), then count pairs of names and values;
 * later ones win. If none sets the encoding (LC_ALL, LC_CTYPE, LANG), LANG is C.UTF-8, as in the terminal. Returns a
 * list for words_free(), or NULL if memory is short.
 */
char **environment_create(
	char *const *base, const char *const *names, const char *const *values, size_t count);

/* A copy of a list with one more variable, which wins. Returns as environment_create(). */
char **environment_with(char *const *base, const char *name, const char *value);

/* Whether name is a valid variable name: [A-Za-z_][A-Za-z0-9_]*. */
bool environment_name_is_valid(const char *name);
