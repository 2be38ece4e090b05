/*
 * Flags that are taken back: --no-NAME is the opposite of the flag --NAME, and --NAME that of a flag --no-NAME, so that what the
 * config file says (ws/client/config.h) need not be. The later word counts. Pure.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

#define OPPOSITES_MAX 40u /* options of a command */

/*
 * Take the words of opposites out of a command line, with those that they take back. argv is changed only where there are some. shorts:
 * as getopt_long() gets them, which begin with ':' or "+:" (options end at the first word that is none). taken[i]: options[i] was
 * taken back at last. Returns how many words there are then. getopt_long() begins anew afterwards.
 */
int opposite_take_back(int argc, char **argv, const char *shorts, const struct option *options,
	bool taken[OPPOSITES_MAX]);
