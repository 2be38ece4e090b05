/*
 * The config file: default values of options. $RINGSIDE_CONFIG, or ringside/config in
 * $XDG_CONFIG_HOME or ~/.config. The environment and the command line override it.
 */
#pragma once

#include "ws/client/config/config_text.h"
#include "ws/client/connect/cli.h"

/*
 * Read the file and insert its options of this command before the given ones: argv[1] is the
 * command, *argv is replaced. Settings that choose the server go to *ret_server; their strings are
 * never freed. Returns 0 or the exit status; errors are reported with the line.
 */
int config_apply(
	int *argc, char ***argv, void (*serve_help)(FILE *out), struct cli_server *ret_server);
