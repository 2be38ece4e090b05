/* What the keys behind the prefix do. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum prefix_action {
	PREFIX_NONE, /* nothing: it was given up */
	PREFIX_UNKNOWN,
	PREFIX_ITSELF, /* it is typed */
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
	PREFIX_ENDED, /* no key: a session has ended, and the next one is to be shown */
};

/* Of a key as struct keyboard_found has it; prefix: the prefix itself. */
enum prefix_action prefix_action(int prefix, int key);

/* Line by line, for people; NULL behind the last. */
const char *prefix_help(size_t line);
