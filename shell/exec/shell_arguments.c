/* A table of supported arguments. With any other a shell may run a script, or lack editing. */
#include "shell/exec/shell_arguments.h"

#include "shell/exec/integration_internal.h"

#include <ctype.h>
#include <string.h>

/* What our init file does instead of the argument; PASSED: the shell gets the argument. */
enum effect { PASSED, DROPPED, NO_FILES, NO_PROFILE, LOGIN, RC_FILE };

static const struct known {
	enum integration_shell shell;
	const char *word;
	enum effect effect;
	bool has_value;
} table[] = {
	{INTEGRATION_BASH, "-i", DROPPED, false},
	{INTEGRATION_BASH, "-l", LOGIN, false},
	{INTEGRATION_BASH, "--login", LOGIN, false},
	{INTEGRATION_BASH, "--norc", NO_FILES, false},
	{INTEGRATION_BASH, "--noprofile", NO_PROFILE, false},
	{INTEGRATION_BASH, "--rcfile", RC_FILE, true},
	{INTEGRATION_BASH, "--init-file", RC_FILE, true},
	{INTEGRATION_BASH, "-o", PASSED, true},
	{INTEGRATION_BASH, "+o", PASSED, true},
	{INTEGRATION_BASH, "-O", PASSED, true},
	{INTEGRATION_BASH, "+O", PASSED, true},
	{INTEGRATION_ZSH, "-i", DROPPED, false},
	{INTEGRATION_ZSH, "-l", PASSED, false},
	{INTEGRATION_ZSH, "--login", PASSED, false},
	{INTEGRATION_ZSH, "-f", NO_FILES, false},
	{INTEGRATION_ZSH, "--no-rcs", NO_FILES, false},
	{INTEGRATION_ZSH, "-d", PASSED, false},
	{INTEGRATION_ZSH, "--no-global-rcs", PASSED, false},
	{INTEGRATION_ZSH, "-o", PASSED, true},
	{INTEGRATION_ZSH, "+o", PASSED, true},
	{INTEGRATION_FISH, "-i", DROPPED, false},
	{INTEGRATION_FISH, "--interactive", DROPPED, false},
	{INTEGRATION_FISH, "-l", PASSED, false},
	{INTEGRATION_FISH, "--login", PASSED, false},
	{INTEGRATION_FISH, "-N", PASSED, false},
	{INTEGRATION_FISH, "--no-config", PASSED, false},
	{INTEGRATION_FISH, "-P", PASSED, false},
	{INTEGRATION_FISH, "--private", PASSED, false},
	{INTEGRATION_FISH, "-C", PASSED, true},
	{INTEGRATION_FISH, "--init-command", PASSED, true},
};

static const struct known *find(enum integration_shell shell, const char *word)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].shell == shell && strcmp(table[i].word, word) == 0)
			return &table[i];
	return NULL;
}

/* Normalise a zsh option: lower case, no underscores, no leading "no", which inverts *set. */
static const char *normalise(const char *value, bool *set, char *text, size_t size)
{
	size_t n = 0;
	for (; *value && n < size - 1; value++)
		if (*value != '_')
			text[n++] = (char)tolower((unsigned char)*value);
	text[n] = '\0';
	if (strncmp(text, "no", 2) != 0)
		return text;
	*set = !*set;
	return text + 2;
}

/* Whether setting or unsetting an option of zsh disables the init file, the key or commands. */
static bool is_fatal_zsh(const char *value, bool set)
{
	static const struct {
		const char *name;
		bool set;
	} fatal[] = {
		{"zle", false},
		{"usezle", false},
		{"rcs", false},
		{"exec", false},
		{"interactive", false},
		{"shinstdin", false},
		{"stdin", false},
		{"singlecommand", true},
		{"onecmd", true},
		{"restricted", true},
		{"privileged", true},
	};
	char text[32];
	const char *name = normalise(value, &set, text, sizeof text);
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		if (strcmp(name, fatal[i].name) == 0 && set == fatal[i].set)
			return true;
	return false;
}

/* Whether an argument makes the integration impossible. */
static bool is_fatal(const struct known *k, const char *value)
{
	static const char *const names[] = {"posix", "privileged", "noexec", "onecmd"};
	if (!k->has_value || k->effect != PASSED || k->shell == INTEGRATION_FISH)
		return false;
	if (k->shell == INTEGRATION_ZSH)
		return is_fatal_zsh(value, k->word[0] == '-');
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(value, names[i]) == 0)
			return true;
	return false;
}

enum integration_shell shell_arguments_shell(const char *program, const char *const *arguments)
{
	enum integration_shell shell = integration_shell_of(program);
	for (; arguments && *arguments; arguments++) {
		const struct known *k = find(shell, *arguments);
		if (!k || (k->has_value && !*++arguments) || is_fatal(k, *arguments))
			return INTEGRATION_NONE;
	}
	return shell;
}

size_t shell_arguments_passed(
	enum integration_shell shell, const char *const *arguments, const char **ret_words)
{
	size_t count = 0;
	for (; arguments && *arguments; arguments++) {
		const struct known *k = find(shell, *arguments);
		bool passed = !k || k->effect == PASSED,
		     has_value = k && k->has_value && arguments[1];
		if (passed)
			ret_words[count++] = *arguments;
		arguments += has_value;
		if (passed && has_value)
			ret_words[count++] = *arguments;
	}
	ret_words[count] = NULL;
	return count;
}

/* Whether an argument has this effect. *ret_value: the value of the last one. */
static bool has_effect(enum integration_shell shell, const char *const *arguments,
	enum effect effect, const char **ret_value)
{
	bool found = false;
	for (; arguments && *arguments; arguments++) {
		const struct known *k = find(shell, *arguments);
		bool has_value = k && k->has_value && arguments[1];
		arguments += has_value;
		if (k && k->effect == effect) {
			found = true;
			*ret_value = *arguments;
		}
	}
	return found;
}

static void put_bash(FILE *f, const char *const *arguments)
{
	const char *file = NULL, *none;
	if (has_effect(INTEGRATION_BASH, arguments, LOGIN, &none)) {
		if (has_effect(INTEGRATION_BASH, arguments, NO_PROFILE, &none))
			return;
		fputs("[[ ! -r /etc/profile ]] || . /etc/profile\n"
		      "if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile\n"
		      "elif [[ -r ~/.bash_login ]]; then . ~/.bash_login\n"
		      "elif [[ -r ~/.profile ]]; then . ~/.profile\nfi\n",
			f);
	} else if (has_effect(INTEGRATION_BASH, arguments, NO_FILES, &none)) {
		return;
	} else if (has_effect(INTEGRATION_BASH, arguments, RC_FILE, &file)) {
		fputs("[[ ! -r ", f);
		integration_put_text(f, file);
		fputs(" ]] || . ", f);
		integration_put_text(f, file);
		putc('\n', f);
	} else {
		fputs("[[ ! -r ~/.bashrc ]] || . ~/.bashrc\n", f);
	}
}

void shell_arguments_put_files(FILE *f, enum integration_shell shell, const char *const *arguments)
{
	const char *none;
	if (shell == INTEGRATION_BASH)
		put_bash(f, arguments);
	else if (shell == INTEGRATION_ZSH && has_effect(shell, arguments, NO_FILES, &none))
		fputs("\\builtin unsetopt rcs\n", f);
	else if (shell == INTEGRATION_ZSH)
		fputs("[[ ! -r \"${ZDOTDIR-$HOME}/.zshenv\" ]] || \\builtin source \"${ZDOTDIR-$HOME}/.zshenv\"\n",
			f);
}
