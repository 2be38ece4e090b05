/* What happens to a session when its shell ends: its policy, chosen when it is created. */
#pragma once

#include <stdbool.h>

enum shell_exit {
	SHELL_EXIT_CLOSE, /* the session has ended */
	SHELL_EXIT_REEXEC, /* bash replaces itself by a new one, in its EXIT trap: see shell/exec/integration.h */
	SHELL_EXIT_RESPAWN, /* the holder starts a new shell on the same terminal: see pty/wire.h */
};

/* "close", "reexec" or "respawn". */
const char *shell_exit_name(enum shell_exit policy);

/* The policy of that name. Returns false when there is none. */
bool shell_exit_parse(const char *name, enum shell_exit *ret_policy);
