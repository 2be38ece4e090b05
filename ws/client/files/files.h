/* `ringside cat` and `ringside cp`: files of sessions, there and back. */
#pragma once

#include "ws/client/connect/cli.h"

extern const struct command command_cat, command_cp;

/* Bytes on standard output; user is the cli. Returns 0, or the status to end with. */
int files_print(void *user, const void *bytes, size_t length);
