/*
 * Memory that is not dumpable can neither be traced nor read through /proc by others of the same user: see prctl(2),
 * PR_SET_DUMPABLE. That execve(2) undoes it is as it should be for our children.
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
	/* The soft limit alone: whoever wants core files of what runs in a session may raise it there. */
	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return;
	core.rlim_cur = 0;
	(void)setrlimit(RLIMIT_CORE, &core);
}

/* Returns the value of NAME=VALUE, or NULL when it is another's. */
static char *value_of(char *variable, const char *name)
{
	size_t length = strlen(name);
	bool same = strncmp(variable, name, length) == 0 && variable[length] == '=';
	return same ? variable + length + 1 : NULL;
}

char *privacy_take(char **environment, const char *name)
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

void privacy_forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}
