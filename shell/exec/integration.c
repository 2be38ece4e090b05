/*
 * The bash itself is in init.bash. It runs untouched by what users define, and shows itself nowhere:
 *
 *  - Functions come before builtins, whatever way they are called. With FUNCNEST=1 a function that one of ours would
 *    call is refused, which ends ours, too: a look that calls nobody. The line behind it then takes away what the
 *    user has defined (in POSIX mode `unset` comes before functions), and it is put back before the user's command.
 *  - Aliases are expanded when a function is read, and ours are read before the user's file.
 *  - A redirection that fails is a condition without a command: DEBUG traps do not see it.
 *  - DEBUG traps, set -x and set -v are off from the key on up to the command.
 *  - At the prompt a DEBUG trap sees one call of ours, whose standard output is no terminal: bash-preexec, which has
 *    armed itself for the next command at the first prompt already, leaves those alone.
 *  - What the shell exports is written down at each prompt. `declare -px` sorts all variables for that, 2 ms where a
 *    startup file has defined a thousand, so where there are many the names come first: `compgen -e`, as comments for
 *    whoever reads the file meanwhile. How many there are is looked at now and then.
 *  - The command is evaluated by the shell itself, neither by a function nor by a sourced file: RETURN traps, return,
 *    LINENO, declare are as they are when it is typed. What is put in front of it stands on its first line.
 *
 * The script that a command needs has three lines: its header, variables, and what the line that is entered runs.
 */
#include "ring/utf8.h"
#include "shell/exec/integration_internal.h"
#include "shell/exec/shell_arguments.h"
#include "shell/memory_stream.h"
#include "shell/store/directory.h"

#include "shell/exec/integration_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "/proc/$PPID/fd/"
#define LINE \
	" \\builtin eval \"$__rs_x\"; { __rs_end \"$__rs_la\" && __rs_z() (x); } 2>/dev/null" /* __rs_line */

/* How zsh and fish have it. */
#define LINE_ZSH " \\builtin \\eval \"$__rs_x\""
#define LINE_FISH " builtin eval $__rs_x"

/* What differs. The path of the file is the value of ZDOTDIR for zsh, and an argument of the others. */
static const struct {
	const char *name, *file, *text, *line;
} shells[] = {
	[INTEGRATION_NONE] = {"", "", "", ""},
	[INTEGRATION_BASH] = {"bash", DIRECTORY_SHELL "/init.bash", integration_text, LINE},
	[INTEGRATION_ZSH] = {"zsh", DIRECTORY_SHELL "/.zshenv", integration_zsh_text, LINE_ZSH},
	[INTEGRATION_FISH] = {"fish", DIRECTORY_SHELL "/init.fish", integration_fish_text, LINE_FISH},
};

enum integration_shell integration_shell_of(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	for (enum integration_shell s = INTEGRATION_BASH; s <= INTEGRATION_FISH; s++)
		if (strcmp(shells[s].name, name) == 0)
			return s;
	return INTEGRATION_NONE;
}

const char *integration_file(enum integration_shell shell)
{
	return shells[shell].file;
}

size_t integration_line_length(enum integration_shell shell)
{
	return strlen(shells[shell].line);
}

/* Text */

static void put_char(FILE *f, unsigned char c)
{
	if (c == '\'' || c == '\\')
		fprintf(f, "\\%c", c);
	else if (c >= ' ' && c < 0x7f)
		fputc(c, f);
	else
		fprintf(f, "\\%03o", c);
}

void integration_put_quoted(FILE *f, const char *bytes, size_t length)
{
	fputs("$'", f);
	for (size_t i = 0; i < length; i++)
		put_char(f, (unsigned char)bytes[i]);
	fputc('\'', f);
}

void integration_put_text(FILE *f, const char *text)
{
	integration_put_quoted(f, text, strlen(text));
}

void integration_put_shown(FILE *f, const char *command, size_t length)
{
	size_t shown = utf8_cut(command, length, INTEGRATION_SHOWN_MAX);
	fputs("$'", f);
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)command[i];
		if (c == '\n')
			fputs("\\n", f);
		else if (c == '\t')
			fputs("\\t", f);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "^\\x%02x", c ^ 0x40);
		else
			put_char(f, c);
	}
	if (shown < length)
		fprintf(f, " ... (%zu bytes in all)", length);
	fputc('\'', f);
}

/* The init file */

static void put_zdotdir(FILE *f, const char *value)
{
	fputs(value ? "\\builtin export ZDOTDIR=" : "\\builtin unset ZDOTDIR", f);
	if (value)
		integration_put_text(f, value);
}

static void put_filled(FILE *f, const char *gap, const struct integration_init *init)
{
	if (strncmp(gap, "@NONCE@", 7) == 0)
		fputs(init->nonce, f);
	else if (strncmp(gap, "@ZDOTDIR@", 9) == 0)
		put_zdotdir(f, init->path);
	else if (strncmp(gap, "@FILES@", 7) == 0)
		shell_arguments_put_files(f, init->shell, init->arguments);
	else if (init->path)
		integration_put_text(f, init->path);
}

/* The next gap of a text, and the length of its name; NULL: there is none. */
static const char *find_gap(const char *text, size_t *ret_length)
{
	static const char *const gaps[] = {"@NONCE@", "@PATH@", "@ZDOTDIR@", "@FILES@"};
	for (text = strchr(text, '@'); text; text = strchr(text + 1, '@')) {
		for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
			*ret_length = strlen(gaps[i]);
			if (strncmp(text, gaps[i], *ret_length) == 0)
				return text;
		}
	}
	return NULL;
}

char *integration_init(const struct integration_init *init)
{
	const char *rest = shells[init->shell].text, *gap;
	char *text = NULL;
	size_t length, name;
	FILE *f = memory_stream(&text, &length);
	if (!f)
		return NULL;
	for (; (gap = find_gap(rest, &name)); rest = gap + name) {
		fprintf(f, "%.*s", (int)(gap - rest), rest);
		put_filled(f, gap, init);
	}
	fputs(rest, f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* The script */

/* Whether a line is this word; tabs: after any tabs. */
static bool has_line(const char *at, const char *end, const char *word, size_t length, bool tabs)
{
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		const char *begin = at;
		while (tabs && begin < end && *begin == '\t')
			begin++;
		if ((size_t)(end - begin) >= length && memcmp(begin, word, length) == 0 &&
			(begin + length == end || begin[length] == '\n'))
			return true;
	}
	return false;
}

/* Whether the here-document that this begins (behind its <<) ends, as far as can be seen without knowing bash. */
static bool ends_document(const char *at, const char *end)
{
	char word[64];
	size_t length = 0;
	bool tabs = at < end && *at == '-';
	at += tabs;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at < end && !isspace((unsigned char)*at) && !strchr(";&|<>()", *at); at++) {
		if (*at == '\'' || *at == '"' || *at == '\\')
			continue;
		if (length == sizeof word)
			return false;
		word[length++] = *at;
	}
	return length > 0 && has_line(at, end, word, length, tabs);
}

bool integration_takes_a_line(const char *command, size_t length)
{
	const char *end = command + length, *at = command;
	if (length > 0 && end[-1] == '\\')
		return false;
	while ((at = memmem(at, (size_t)(end - at), "<<", 2))) {
		at += 2;
		if (at < end && *at == '<')
			at++;
		else if (!ends_document(at, end))
			return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Whether it may be `set -v`, behind which the shell prints the lines that it reads: ours then, too. */
static bool may_show_lines(const char *command, size_t length)
{
	const char *end = command + length, *at = command;
	while ((at = memmem(at, (size_t)(end - at), "set", 3))) {
		bool begins = at == command || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		at += 3;
		const char *word = at;
		if (!begins)
			continue;
		while (word < end && is_blank(*word))
			word++;
		if (word == at || word == end || *word++ != '-')
			continue;
		while (word < end && isalpha((unsigned char)*word))
			if (*word++ == 'v')
				return true;
		while (word < end && is_blank(*word))
			word++;
		if (end - word >= 7 && memcmp(word, "verbose", 7) == 0)
			return true;
	}
	return false;
}

/* What a variable of the command was before, as something to evaluate afterwards in a function. */
static void put_undo(FILE *f, const struct integration_command *c)
{
	if (c->env_count + (c->cwd != NULL) == 0)
		return;
	for (size_t i = 0; i < c->env_count; i++) {
		const char *name = c->env_names[i];
		fprintf(f,
			"; __rs_u+='\\builtin unset -v %s;'; if [[ -v %s ]]; then __rs_t=${%s[@]@A}; "
			"__rs_ts=${__rs_t%%%%=*}; [[ $__rs_t != declare* ]] || "
			"__rs_u+=\"\\\\builtin declare -g ${__rs_ts:8};\"; __rs_u+=\"%s=${__rs_t#*=};\"; fi",
			name, name, name, name);
	}
	if (c->cwd)
		fputs("; __rs_u+=\"\\\\builtin cd -- ${PWD@Q}; ${OLDPWD+OLDPWD=${OLDPWD@Q};}\"", f);
}

static bool substitutes(const char *command, size_t length)
{
	return memmem(command, length, ">(", 2) != NULL;
}

void integration_put_command(FILE *f, const struct integration_command *c)
{
	bool keeps = !c->isolated && integration_takes_a_line(c->command, c->length) &&
		!may_show_lines(c->command, c->length);
	fputs("__rs_c=", f);
	integration_put_quoted(f, c->command, c->length);
	fputs(" __rs_v=", f);
	integration_put_shown(f, c->command, c->length);
	bool piped = memchr(c->command, '|', c->length);
	fprintf(f, " __rs_i=%s __rs_k=%s __rs_p=%s __rs_hi=%s", c->id,
		!keeps          ? ""
			: piped ? "p"
				: "1",
		c->streams == EXEC_PIPES ? "1" : "", c->history ? "1" : "");
	if (c->shell == INTEGRATION_BASH)
		fprintf(f, " __rs_pl=%s", piped ? "1" : "");
	/* What is substituted may write when the command has ended. */
	if (c->shell != INTEGRATION_FISH)
		fprintf(f, " __rs_lw=%s", substitutes(c->command, c->length) ? "1" : "");
}

void integration_put_circumstances(FILE *f, const struct integration_command *c)
{
	if (c->cwd) {
		fputs("\\builtin cd -- ", f);
		integration_put_text(f, c->cwd);
		fputs(" && ", f);
	}
	for (size_t i = 0; i < c->env_count; i++) {
		fprintf(f, "\\builtin export %s=", c->env_names[i]);
		integration_put_text(f, c->env_values[i]);
		fputs(" && ", f);
	}
}

void integration_put_redirections(FILE *f, const struct integration_command *c)
{
	if (c->input) {
		fputs(" <", f);
		integration_put_text(f, c->input);
	}
	if (c->streams == EXEC_PIPES)
		fputs(" >\"" PLACE "8\" 2>\"" PLACE "9\"", f);
	if (c->streams == EXEC_TERMINALS) {
		fputs(" 2>", f);
		integration_put_text(f, c->error_terminal);
	}
}

char *integration_script(const struct integration_command *c, size_t *ret_length)
{
	char *text = NULL;
	if (c->shell == INTEGRATION_ZSH)
		return integration_zsh_script(c, ret_length);
	if (c->shell == INTEGRATION_FISH)
		return integration_fish_script(c, ret_length);
	FILE *f = memory_stream(&text, ret_length);
	if (!f)
		return NULL;
	integration_put_command(f, c);
	put_undo(f, c);
	fputc('\n', f);
	fprintf(f, "{ __rs_before %u %u; } 2>/dev/null; { ", c->up, c->column);
	integration_put_circumstances(f, c);
	fprintf(f, "%s\\builtin eval -- \"$__rs_c\"%s }", c->isolated ? "( " : "",
		c->isolated ? " );" : ";");
	integration_put_redirections(f, c);
	fputs("; { __rs_after; } 2>/dev/null\n", f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
