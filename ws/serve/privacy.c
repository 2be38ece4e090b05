/*
 * A process that is not dumpable cannot be traced, nor be read through /proc, by other processes of its user: see prctl(2),
 * PR_SET_DUMPABLE. execve(2) resets this, so children are not affected.
 */
#include "ws/serve/privacy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void privacy_begin(void)
{
	struct rlimit core;
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* Only the soft limit, so that core files can be enabled in a session. */
	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return;
	core.rlim_cur = 0;
	(void)setrlimit(RLIMIT_CORE, &core);
}

/* Returns the value of NAME=VALUE, or NULL if the variable has another name. */
static char *value_of(char *variable, const char *name)
{
	size_t length = strlen(name);
	bool same = strncmp(variable, name, length) == 0 && variable[length] == '=';
	return same ? variable + length + 1 : NULL;
}

char *privacy_remove_variable(char **environment, const char *name)
{
	char *taken = NULL, **kept = environment;
	for (char **v = environment; *v; v++) {
		char *value = value_of(*v, name);
		if (!value) {
			*kept++ = *v;
			continue;
		}
		if (!taken)
			taken = strdup(value);
		explicit_bzero(*v, strlen(*v));
	}
	*kept = NULL;
	return taken;
}

void privacy_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}
