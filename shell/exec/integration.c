/*
 * The bash code is in init.bash. It works whatever users define, and is visible nowhere:
 *
 *  - Functions come before builtins, however they are called. With FUNCNEST=1 bash refuses the call
 *    of a function from one of ours, and ends ours too: a check that calls no user code. The line
 *    behind it then removes the user's functions (in POSIX mode `unset` comes before functions),
 *    and they are restored before the user's command.
 *  - Aliases are expanded when a function is read, and our functions are read before the user's
 *    file.
 *  - A redirection that fails is a condition without a command, so DEBUG traps do not see it.
 *  - DEBUG traps, set -x and set -v are off between the key and the command.
 *  - At the prompt a DEBUG trap sees one call of ours, with a standard output that is no terminal:
 *    bash-preexec, which has armed itself at the first prompt, ignores such calls.
 *  - The exported variables are written to a file at each prompt. `declare -px` sorts all
 *    variables, which takes 2 ms if startup files define a thousand. So if there are many, their
 *    names are listed first by `compgen -e`, as comments because the file may be read meanwhile.
 *    The variables are counted now and then.
 *  - The shell itself evaluates the command, not a function or a sourced file, so RETURN traps,
 *    return, LINENO and declare work as in a typed command. What is put in front of the command
 *    stands on its first line.
 *
 * The script of a command has three lines: its header, variables, and the code that the typed line
 * evaluates.
 */
#include "ring/utf8.h"
#include "shell/exec/integration_internal.h"
#include "shell/exec/shell_arguments.h"
#include "shell/memory_stream.h"
#include "shell/store/directory.h"

#include "shell/exec/integration_text.h"

#include <ctype.h>
#include <string.h>

#define PLACE "/proc/$PPID/fd/"
/* The line that runs the script: __rs_line of init.bash, and its like in zsh and fish. */
#define LINE " \\builtin eval \"$__rs_x\"; { __rs_end \"$__rs_la\" && __rs_z() (x); } 2>/dev/null"
#define LINE_ZSH " \\builtin \\eval \"$__rs_x\""
#define LINE_FISH " builtin eval $__rs_x"

/* zsh finds its init file through ZDOTDIR, the others through an argument. */
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

static void put_quoted(FILE *f, const char *bytes, size_t length)
{
	fputs("$'", f);
	for (size_t i = 0; i < length; i++)
		put_char(f, (unsigned char)bytes[i]);
	fputc('\'', f);
}

void integration_put_text(FILE *f, const char *text)
{
	put_quoted(f, text, strlen(text));
}

/* Print the command as it is shown: control characters visible, cut to INTEGRATION_SHOWN_MAX. */
static void put_shown(FILE *f, const char *command, size_t length)
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

static void fill_placeholder(FILE *f, const char *gap, const struct integration_init *init)
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

/* The next placeholder in a text, and its length; NULL: none. */
static const char *find_placeholder(const char *text, size_t *ret_length)
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
	for (; (gap = find_placeholder(rest, &name)); rest = gap + name) {
		fprintf(f, "%.*s", (int)(gap - rest), rest);
		fill_placeholder(f, gap, init);
	}
	fputs(rest, f);
	fclose(f);
	return text;
}

/* The script */

/* Whether a line behind the first is exactly this word; tabs: behind any leading tabs. */
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

/* Guess whether the here-document that begins at `at`, behind its <<, has an end. */
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

bool integration_can_append_line(const char *command, size_t length)
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

/* Whether the command may have `set -v`, which makes the shell print our lines too. */
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

/* Print code that saves the variables and the directory as code in __rs_u, to restore them. */
static void put_restore(FILE *f, const struct integration_command *c)
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

static bool has_process_substitution(const char *command, size_t length)
{
	return memmem(command, length, ">(", 2) != NULL;
}

void integration_put_command(FILE *f, const struct integration_command *c)
{
	bool keeps = !c->isolated && integration_can_append_line(c->command, c->length) &&
		!may_show_lines(c->command, c->length);
	fputs("__rs_c=", f);
	put_quoted(f, c->command, c->length);
	fputs(" __rs_v=", f);
	put_shown(f, c->command, c->length);
	bool piped = memchr(c->command, '|', c->length);
	fprintf(f, " __rs_i=%s __rs_k=%s __rs_p=%s __rs_hi=%s", c->id,
		!keeps          ? ""
			: piped ? "p"
				: "1",
		c->streams == EXEC_PIPES ? "1" : "", c->history ? "1" : "");
	if (c->shell == INTEGRATION_BASH)
		fprintf(f, " __rs_pl=%s", piped ? "1" : "");
	/* A process substitution may write after the command has ended. */
	if (c->shell != INTEGRATION_FISH)
		fprintf(f, " __rs_lw=%s",
			has_process_substitution(c->command, c->length) ? "1" : "");
}

void integration_put_setup(FILE *f, const struct integration_command *c, const char *cd)
{
	if (c->cwd) {
		fputs(cd, f);
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
	put_restore(f, c);
	fputc('\n', f);
	fprintf(f, "{ __rs_before %u %u; } 2>/dev/null; { ", c->up, c->column);
	integration_put_setup(f, c, "\\builtin cd -- ");
	fprintf(f, "%s\\builtin eval -- \"$__rs_c\"%s }", c->isolated ? "( " : "",
		c->isolated ? " );" : ";");
	integration_put_redirections(f, c);
	fputs("; { __rs_after; } 2>/dev/null\n", f);
	fclose(f);
	return text;
}
