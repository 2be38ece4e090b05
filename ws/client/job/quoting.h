/* What is left of a command line, as a command for bash. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * The arguments that are left: a single one is bash as it is, several are words, each quoted where it has to
 * be. Returns the text, owned by the caller; NULL when there is none, after having complained.
 */
char *quoting_command(struct cli *cli);
