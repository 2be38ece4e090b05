/*
 * How the integration gets into a shell: bash has an option for its init file, fish one for a command that runs after
 * its config; for zsh, ZDOTDIR is the session's directory, and the .zshenv there restores the user's value.
 */
#include "shell/session/launch.h"

#include "shell/environment.h"
#include "shell/exec/integration.h"
#include "shell/exec/shell_arguments.h"
#include "shell/store/directory.h"
#include "shell/store/file.h"
#include "shell/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *unconst(const char *text)
{
	return (char *)(uintptr_t)text; /* exec(2) does not write to arguments */
}

static const char *const *words_of(char **words)
{
	return (const char *const *)words;
}

static char **find_variable(char **environment, const char *name)
{
	size_t length = strlen(name);
	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return environment;
	return NULL;
}

static int write_init(struct session *session, const char *zdotdir, const struct launch *l)
{
	struct executor *x = &session->executor;
	bool again = session->on_shell_exit == SHELL_EXIT_REEXEC;
	const struct integration_init init = {.shell = x->shell,
		.nonce = x->nonce,
		.path = x->shell == INTEGRATION_ZSH ? zdotdir
			: again                     ? l->init
						    : NULL,
		.arguments = words_of(session->shell_arguments)};
	char *text = integration_init(&init);
	int rc = text ? file_save(session->pane.held.link.dir_fd, integration_file(x->shell), text,
				strlen(text))
		      : -ENOMEM;
	free(text);
	return rc;
}

/* Point zsh to its init file. */
static int set_zdotdir(const char *directory, char ***environment)
{
	char place[PATH_MAX];
	const char *names[] = {"ZDOTDIR"}, *values[] = {place};
	if ((size_t)snprintf(place, sizeof place, "%s/" DIRECTORY_SHELL, directory) >= sizeof place)
		return -ENAMETOOLONG;
	char **changed = environment_create(*environment, names, values, 1);
	if (!changed)
		return -ENOMEM;
	words_free(*environment);
	*environment = changed;
	return 0;
}

int launch_prepare(
	struct session *session, const char *directory, char ***environment, struct launch *l)
{
	const struct executor *x = &session->executor;
	size_t n = 0;
	l->argv[n++] = session->pane.shell;
	if (!exec_is_possible(x)) {
		for (char **word = session->shell_arguments; word && *word; word++)
			l->argv[n++] = *word;
		l->argv[n] = NULL;
		return 0;
	}
	if ((size_t)snprintf(l->init, sizeof l->init, "%s/%s", directory,
		    integration_file(x->shell)) >= sizeof l->init)
		return -ENAMETOOLONG;
	char **zdotdir = find_variable(*environment, "ZDOTDIR");
	int rc = write_init(session, zdotdir ? *zdotdir + sizeof "ZDOTDIR=" - 1 : NULL, l);
	if (rc == 0 && x->shell == INTEGRATION_ZSH)
		rc = set_zdotdir(directory, environment);
	if (rc < 0)
		return rc;
	if (x->shell == INTEGRATION_BASH) {
		l->argv[n++] = unconst("--rcfile");
		l->argv[n++] = l->init;
	}
	if (x->shell == INTEGRATION_FISH) {
		/* Quote the path: the session's directory has a safe name, its parents may not. */
		size_t at = (size_t)snprintf(l->command, sizeof l->command, "source '");
		for (const char *c = l->init; *c; c++) {
			if (*c == '\'' || *c == '\\')
				l->command[at++] = '\\';
			l->command[at++] = *c;
		}
		snprintf(l->command + at, sizeof l->command - at, "'");
		l->argv[n++] = unconst("--init-command");
		l->argv[n++] = l->command;
	}
	l->argv[n++] = unconst("-i");
	shell_arguments_passed(
		x->shell, words_of(session->shell_arguments), (const char **)(l->argv + n));
	return 0;
}
