/* The policy for the end of a session's shell, chosen at creation. */
#pragma once

#include <stdbool.h>

/* What happens when the shell ends. */
enum shell_exit {
	SHELL_EXIT_CLOSE,   /* the session ends */
	SHELL_EXIT_REEXEC,  /* bash execs itself in its EXIT trap, see shell/exec/integration.h */
	SHELL_EXIT_RESPAWN, /* the holder starts a new shell on the same terminal, see pty/wire.h */
};

/* "close", "reexec" or "respawn". */
const char *shell_exit_name(enum shell_exit policy);

/* The policy of that name. Returns false, and leaves *ret_policy, if there is none. */
bool shell_exit_parse(const char *name, enum shell_exit *ret_policy);
