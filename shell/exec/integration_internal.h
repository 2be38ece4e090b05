/* Private to the files integration*.c and shell_arguments.c. */
#pragma once

#include "shell/exec/integration.h"

#include <stdio.h>

/* Print $'...', which stands for exactly this text and has no line break. */
void integration_put_text(FILE *f, const char *text);

/*
 * Whether a line can be appended to the command, to read its statuses before eval changes them. Not
 * when that line could become part of a here-document or of a continued line.
 */
bool integration_can_append_line(const char *command, size_t length);

/* Print the assignments that describe the command to bash and zsh. */
void integration_put_command(FILE *f, const struct integration_command *command);

/* Print the redirections of the command. */
void integration_put_redirections(FILE *f, const struct integration_command *command);

/* Print what sets the command's directory and variables, each followed by &&. cd: the command that changes directory. */
void integration_put_setup(FILE *f, const struct integration_command *command, const char *cd);

/* integration_script() for zsh. */
char *integration_zsh_script(const struct integration_command *command, size_t *ret_length);

/* integration_script() for fish. */
char *integration_fish_script(const struct integration_command *command, size_t *ret_length);
