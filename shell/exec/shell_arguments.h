/*
 * Arguments that a shell is to be started with, and the integration: a shell that gets our init file is told by that which of
 * the user's files to read, so that these arguments do not reach it. Pure.
 */
#pragma once

#include "shell/exec/integration.h"

#include <stdio.h>

/* Which integration a program with these arguments (ended by NULL; NULL: none) can have: only with those that are known. */
enum integration_shell shell_arguments_shell(const char *program, const char *const *arguments);

/*
 * Those of them that the shell itself gets besides ours, in their order, and a NULL: ret_words has place for as many as
 * there are. Returns how many.
 */
size_t shell_arguments_passed(
	enum integration_shell shell, const char *const *arguments, const char **ret_words);

/* What the init file does to read the user's own files in the place of the arguments, as lines for it. */
void shell_arguments_put_files(FILE *f, enum integration_shell shell, const char *const *arguments);
