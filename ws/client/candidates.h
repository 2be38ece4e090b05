/* Completion of command lines, for the scripts completion.bash, .fish and .zsh. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * Print the completions of the last word, which may be empty: one a line, with a tab and a
 * description behind it. A single line ":files" or ":dirs" stands for names of files or
 * directories. words: those behind `ringside`. Returns the exit status.
 */
int candidates_print(struct cli *cli, int count, char **words);
