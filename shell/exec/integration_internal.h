/* What the files of integration share. */
#pragma once

#include "shell/exec/integration.h"

#include <stdio.h>

/* $'...', which stands for exactly these bytes and has no line break. */
void integration_put_quoted(FILE *f, const char *bytes, size_t length);
void integration_put_text(FILE *f, const char *text);

/* The command as it would have been typed: control characters made visible, no more than a screenful or so. */
void integration_put_shown(FILE *f, const char *command, size_t length);

/*
 * Whether a line can be put behind the command, to see its statuses before they become eval's: not when it could
 * become part of a here-document or of a line that goes on.
 */
bool integration_takes_a_line(const char *command, size_t length);

/* The variables of the command for bash and zsh: what it is, what is shown of it, and what is kept of its end. */
void integration_put_command(FILE *f, const struct integration_command *command);

/* Where the command's input comes from and its output goes, behind it. */
void integration_put_redirections(FILE *f, const struct integration_command *command);

/* The directory and the variables of the command, in the group whose streams are the command's. */
void integration_put_circumstances(FILE *f, const struct integration_command *command);

/* integration_script() for the other shells. */
char *integration_zsh_script(const struct integration_command *command, size_t *ret_length);
char *integration_fish_script(const struct integration_command *command, size_t *ret_length);
