/* The flags and arguments of a tmux command. */
#pragma once

#include "ws/client/tmux/arena.h"

#include <stdbool.h>

/* One occurrence of a flag. */
struct args_flag {
	char letter;
	const char *value; /* NULL: none */
};

/* A parsed command line. */
struct args {
	struct args_flag *flags; /* in order; in the arena */
	unsigned flag_count;
	char **items; /* arguments */
	unsigned count;
};

/*
 * Parse a command line without the command's name. letters: as for getopt(3).
 * Returns NULL, or an error text in the arena; "usage" stands for -?.
 */
char *args_parse(
	struct arena *a, const char *letters, char **argv, unsigned argc, struct args *ret_args);

/* Whether a flag was given. */
bool args_has(const struct args *a, char letter);
/* The last value of a flag, or NULL. */
const char *args_value(const struct args *a, char letter);
/* The i-th argument, or "". */
const char *args_item(const struct args *a, unsigned i);
