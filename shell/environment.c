/*
 * A table of the variables that are left out, and the list that is built without them; a later value takes the
 * place of an earlier one of the same name. When memory is short, nothing of the list is left.
 */
#include "shell/environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables that tell programs which terminal they are in; '*' at the end stands for any rest. */
static const char *const scrubbed[] = {"TERM", "TERM_*", "TERMCAP", "TERMINFO*", "COLORTERM",
	"COLORFGBG", "COLUMNS", "LINES", "TMUX*", "STY", "WINDOW", "WINDOWID", "VTE_VERSION",
	"KITTY_*", "ITERM_*", "WEZTERM_*", "ALACRITTY_*", "GHOSTTY_*", "KONSOLE_*", "VSCODE_*",
	"ZELLIJ*", "WT_*", "XTERM_*", "GNOME_TERMINAL_*", "TERMINAL_EMULATOR", "TERMINATOR_UUID",
	"TILIX_ID", "LC_TERMINAL*", "INSIDE_EMACS", "NVIM*", "SSH_TTY", "GPG_TTY", "SHLVL",
	"OLDPWD", "_", "RINGSIDE_*"};

static bool matches(const char *pattern, const char *variable, size_t length)
{
	size_t n = strlen(pattern);
	if (pattern[n - 1] == '*')
		return length >= n - 1 && strncmp(pattern, variable, n - 1) == 0;
	return length == n && strncmp(pattern, variable, n) == 0;
}

static bool is_scrubbed(const char *variable, size_t length)
{
	for (size_t i = 0; i < sizeof scrubbed / sizeof *scrubbed; i++)
		if (matches(scrubbed[i], variable, length))
			return true;
	return false;
}

int environment_name_is_valid(const char *name)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	size_t length = strlen(name);
	return length > 0 && !(name[0] >= '0' && name[0] <= '9') && strspn(name, letters) == length;
}

/* Put name=value into the list, in place of an older one. Returns false when memory is short. */
static bool put(char **list, size_t *used, const char *name, size_t name_length, const char *value)
{
	size_t size = name_length + strlen(value) + 2, i;
	char *entry = malloc(size);
	if (!entry)
		return false;
	snprintf(entry, size, "%.*s=%s", (int)name_length, name, value);
	for (i = 0; i < *used; i++)
		if (strncmp(list[i], entry, name_length + 1) == 0)
			break;
	if (i < *used)
		free(list[i]);
	else
		++*used;
	list[i] = entry;
	return true;
}

char **environment_create(
	char *const *base, const char *const *names, const char *const *values, size_t count)
{
	size_t inherited = 0, used = 0;
	while (base[inherited])
		inherited++;
	char **list = calloc(inherited + count + 3, sizeof *list);
	if (!list)
		return NULL;
	for (size_t i = 0; i < inherited; i++) {
		const char *equals = strchr(base[i], '=');
		size_t length = equals ? (size_t)(equals - base[i]) : 0;
		if (length == 0 || is_scrubbed(base[i], length))
			continue;
		if (!put(list, &used, base[i], length, equals + 1))
			goto err_list;
	}
	if (!put(list, &used, "TERM", 4, "xterm-256color") ||
		!put(list, &used, "COLORTERM", 9, "truecolor"))
		goto err_list;
	for (size_t i = 0; i < count; i++)
		if (!put(list, &used, names[i], strlen(names[i]), values[i]))
			goto err_list;
	return list;
err_list:
	environment_destroy(list);
	return NULL;
}

void environment_destroy(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}
