/* The flags and arguments of a command of tmux. */
#pragma once

#include "ws/client/tmux/arena.h"

#include <stdbool.h>

struct args_flag {
	char letter;
	const char *value; /* NULL: it has none */
};

struct args {
	struct args_flag *flags; /* in their order; of the arena */
	unsigned flag_count;
	char **items; /* arguments */
	unsigned count;
};

/*
 * Take a command line apart, without the name of the command. letters are those of getopt. Returns NULL, or what is wrong.
 */
char *args_parse(
	struct arena *a, const char *letters, char **argv, unsigned argc, struct args *ret_args);

bool args_has(const struct args *a, char letter);
/* The last value of a flag; NULL: it is not there. */
const char *args_value(const struct args *a, char letter);
/* The i-th argument, or "". */
const char *args_item(const struct args *a, unsigned i);
/* How often. */
unsigned args_count(const struct args *a, char letter);
