/* The options of a command, as its help lists them: what completion offers, and a config file may set. */
#pragma once

#include "ws/client/connect/cli.h"

#define OPTION_HELP_MAX 64u /* bytes of an option's name, or of what its value is called */

struct option_help {
	char name[OPTION_HELP_MAX];  /* --timeout */
	char brief[4];               /* -t, or "" */
	char value[OPTION_HELP_MAX]; /* S; "": it takes none, or only behind a = */
	bool optional;               /* behind a = */
	char words[128];             /* what it is */
};

/* Call back for each option that a help has. */
void option_help_each(
	const char *help, void (*found)(void *user, const struct option_help *o), void *user);

/* The help of a command, or (c is NULL) what print() says, "" where there is neither. Returns owned; NULL: no memory. */
char *option_help_text(const struct command *c, void (*print)(FILE *out));
