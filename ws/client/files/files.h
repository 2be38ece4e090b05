/* `ringside cat` and `ringside cp`. */
#pragma once

#include "ws/client/connect/cli.h"

/* The commands. */
extern const struct command command_cat, command_cp;

/* Write bytes to standard output; user is the struct cli. Returns 0 or the exit status. */
int files_print(void *user, const void *bytes, size_t length);
