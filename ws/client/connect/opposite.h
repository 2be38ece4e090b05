/*
 * Opposites of flags: --no-NAME cancels an earlier --NAME, and --NAME an earlier --no-NAME, so that
 * the command line can override the config file (ws/client/config.h). The later word counts. Pure.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

#define OPPOSITES_MAX 40u /* options of a command */

/*
 * Remove opposites from a command line, together with the flags that they cancel. argv is changed
 * only if there are some. shorts: as for getopt_long(), beginning with ':' or "+:" (options end at
 * the first word that is not one). taken[i]: options[i] is cancelled. Returns the new argc. Resets
 * getopt_long().
 */
int opposite_remove(int argc, char **argv, const char *shorts, const struct option *options,
	bool taken[OPPOSITES_MAX]);
