/* Makes a command line of bash from arguments. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * Join the remaining arguments: a single one is used as it is, several are words that are quoted if
 * necessary. Returns the text, owned; NULL for an error, which is reported.
 */
char *quoting_command(struct cli *cli);
