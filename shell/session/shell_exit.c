/* Names of the policies; no state. */
#include "shell/session/shell_exit.h"

#include <string.h>

static const char *const policies[] = {
	[SHELL_EXIT_CLOSE] = "close", [SHELL_EXIT_REEXEC] = "reexec", [SHELL_EXIT_RESPAWN] = "respawn"};

const char *shell_exit_name(enum shell_exit policy)
{
	return policies[policy];
}

bool shell_exit_parse(const char *name, enum shell_exit *ret_policy)
{
	for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
		if (strcmp(policies[i], name) == 0) {
			*ret_policy = (enum shell_exit)i;
			return true;
		}
	}
	return false;
}
