/*
 * Parses the options in the help of a command, for completion and the config file. Lines have the
 * form `  -t, --timeout S  description`; continuation lines are ignored.
 */
#pragma once

#include "ws/client/connect/cli.h"

#define OPTION_HELP_MAX 64u /* bytes of a name */

/* An option in a help. */
struct option_help {
	char name[OPTION_HELP_MAX];  /* --timeout */
	char brief[4];               /* -t, or "" */
	char value[OPTION_HELP_MAX]; /* S; "": no value, or an optional one */
	bool optional;               /* --name[=VALUE] */
	char words[128];             /* the description */
};

/* Call found() for each option of a help; o is borrowed. */
void option_help_each(
	const char *help, void (*found)(void *user, const struct option_help *o), void *user);

/*
 * Returns the help of a command, or, if c is NULL, the text that print() prints (NULL: ""). Owned;
 * NULL: out of memory.
 */
char *option_help_text(const struct command *c, void (*print)(FILE *out));
