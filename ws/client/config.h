/*
 * The config file: what options are when nobody says them. $RINGSIDE_CONFIG, or ringside/config in $XDG_CONFIG_HOME or
 * ~/.config. The environment and the command line win over it.
 */
#pragma once

#include "ws/client/config/config_text.h"
#include "ws/client/connect/cli.h"

/*
 * Read it, and put what it says of this command in front of the words that are given with it: argv[1] is the command, and *argv
 * is replaced. What it says of the server goes to *ret_server, whose texts live for ever. Returns 0, or the status to end with:
 * then standard error says where, and why.
 */
int config_apply(
	int *argc, char ***argv, void (*serve_help)(FILE *out), struct cli_server *ret_server);

/* Where the file is, "" when there is none to look for. *ret_named: it was named, so its absence is a mistake. */
void config_path(char path[PATH_MAX], bool *ret_named);
