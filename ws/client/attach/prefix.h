/* The keys behind the prefix. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a key does. */
enum prefix_action {
	PREFIX_NONE, /* cancelled */
	PREFIX_UNKNOWN,
	PREFIX_ITSELF, /* type the prefix */
	PREFIX_DETACH,
	PREFIX_NEXT,
	PREFIX_PREVIOUS,
	PREFIX_CHOOSE,
	PREFIX_CREATE,
	PREFIX_KILL,
	PREFIX_SCROLL,
	PREFIX_SEARCH,
	PREFIX_STATUS,
	PREFIX_HELP,
	PREFIX_ENDED, /* not a key: the session has ended, show the next one */
};

/* The action of a key from struct keyboard_found; prefix: the prefix itself. */
enum prefix_action prefix_action(int prefix, int key);

/* Returns a line of the help; NULL behind the last. */
const char *prefix_help(size_t line);
