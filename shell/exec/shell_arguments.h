/*
 * The arguments of a session's shell when it gets the integration. The init file reads the user's
 * own files, so the arguments that select those files are not passed on. Pure.
 */
#pragma once

#include "shell/exec/integration.h"

#include <stdio.h>

/*
 * The integration for a program with these arguments (ended by NULL; NULL: none); INTEGRATION_NONE
 * if it has an argument that is not in our table.
 */
enum integration_shell shell_arguments_shell(const char *program, const char *const *arguments);

/*
 * The arguments that are passed on, in their order, and a NULL. ret_words has space for all
 * arguments and the NULL. Returns their number.
 */
size_t shell_arguments_passed(
	enum integration_shell shell, const char *const *arguments, const char **ret_words);

/* Print the lines of the init file that read the user's own files as the arguments select them. */
void shell_arguments_put_files(FILE *f, enum integration_shell shell, const char *const *arguments);
