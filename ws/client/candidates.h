/* What a command line may go on with, for shells that complete it. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * Print what the last of these words, which may be empty, can become: a line each, a tab and what it is behind it. A single line
 * ":files" or ":dirs" says that it names one of those. words: those behind `ringside`. Returns the status to end with.
 */
int candidates_print(struct cli *cli, int count, char **words);
