/*
 * The script for shells that run the init file of the releases before this one: they source it, it does all of the
 * work, and its line is ` . /proc/HOLDER/fd/5`. Such sessions live as long as their holders.
 *
 * Everything that bash has is used under its own name (\builtin), for users have aliases and functions, and
 * nothing here may fail or print under set -e, set -u, set -x and noclobber. Names begin with __rs_.
 */
#include "shell/exec/integration_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "/proc/$PPID/fd/"
#define LOOKS_AT_PIPES 20000u /* of some 15 us, at the most */

/*
 * What a PIPESTATUS needs: eval's own is only the last status. The line is put behind the command when that
 * cannot become part of a here-document or of a line that goes on.
 */
static bool wants_statuses(const char *command, size_t length)
{
	return length > 0 && memchr(command, '|', length) && !memmem(command, length, "<<", 2) &&
		command[length - 1] != '\\';
}

static void put_environment(FILE *f, const struct integration_command *c)
{
	for (size_t i = 0; i < c->env_count; i++) {
		const char *name = c->env_names[i];
		fprintf(f,
			"__rs_u+='\\builtin unset -v %s;'; [[ ! -v %s ]] || __rs_u+=\"${%s[@]@A};\"; ",
			name, name, name);
	}
}

static void put_redirections(FILE *f, const struct integration_command *c)
{
	if (c->input) {
		fputs(" <", f);
		integration_put_text(f, c->input);
	}
	if (c->streams == EXEC_PIPES)
		fputs(" >" PLACE "8 2>" PLACE "9", f);
	if (c->streams == EXEC_TERMINALS) {
		fputs(" 2>", f);
		integration_put_text(f, c->error_terminal);
	}
}

static void put_before(FILE *f, const struct integration_command *c)
{
	/* A status without a fork: while bash waits for a child that does not end by a signal, a Ctrl-C is lost. */
	fputs("{ __rs_rc=$? __rs_xt=; __rs_status() { \\builtin return $__rs_rc; }; case $- in *x*) __rs_xt=1; \\builtin set +x ;; esac; } 2>/dev/null; ",
		f);
	fprintf(f, "\\builtin printf '\\e[%uA\\e[%uG\\e[J%%s\\n\\e]133;C;aid=%s;id=%s\\a' ", c->up,
		c->column, c->nonce, c->id);
	integration_put_shown(f, c->command, c->length);
	fputs(" >/dev/tty; __rs_c=", f);
	integration_put_quoted(f, c->command, c->length);
	fputs("; [ -z \"${__rs_ho-}\" ] || { \\builtin set -o history; \\builtin history -s -- \"$__rs_c\"; }; "
	      "__rs_ho= __rs_u= __rs_st= ",
		f);
	fprintf(f, "__rs_id=%s __rs_d=%s; ", c->id, c->id);
	put_environment(f, c);
	if (c->cwd)
		fputs("__rs_u+=\"\\\\builtin cd -- ${PWD@Q}; ${OLDPWD+OLDPWD=${OLDPWD@Q};}\"; ", f);
	fprintf(f, "\\builtin printf 'C\\037%s\\037%s\\037%%s\\036' \"${#__rs_sl}\" 1<>" PLACE "7; ",
		c->nonce, c->id);
}

static void put_command(FILE *f, const struct integration_command *c)
{
	fputs("{ ", f);
	integration_put_circumstances(f, c);
	fputs("{ [ $__rs_rc = 0 ] || __rs_status && :; }; ", f);
	if (c->isolated)
		fputs("( ", f);
	fputs("\\builtin eval \"${__rs_xt:+set -x; }$__rs_c\"", f);
	if (!c->isolated && wants_statuses(c->command, c->length))
		fputs("$'\\n''__rs_rc=$? __rs_st=\"${PIPESTATUS[@]}\"'", f);
	fputs(c->isolated ? " ); }" : "; }", f);
	put_redirections(f, c);
	fputs("; ", f);
}

/*
 * The holder reads the terminal and the pipes as they become readable, so what is still in the pipes when the mark
 * of the end is written would be shown behind the prompt. It takes it out within a fraction of a millisecond;
 * something in the background that goes on writing must not keep the command from ending.
 */
static void put_until_read(FILE *f)
{
	fprintf(f,
		"for ((__rs_t = 0; __rs_t < %u; __rs_t++)); do \\builtin read -t 0 <" PLACE
		"8 || \\builtin read -t 0 <" PLACE "9 || \\builtin break; done || :; __rs_t=; ",
		LOOKS_AT_PIPES);
}

static void put_after(FILE *f, const struct integration_command *c)
{
	fputs("{ __rs_r=$?; [ -n \"$__rs_st\" ] || __rs_rc=$__rs_r __rs_st=$__rs_r; __rs_xt=; "
	      "case $- in *x*) __rs_xt=1; \\builtin set +x ;; esac; "
	      "\\builtin eval \"$__rs_u\"; __rs_u= __rs_c= __rs_w=$PWD; "
	      "case $__rs_w in *[[:cntrl:]]*) __rs_w= ;; esac; [ ${#__rs_w} -lt 900 ] || __rs_w=; ",
		f);
	if (c->streams == EXEC_PIPES)
		put_until_read(f);
	fputs("} 2>/dev/null; ", f);
	/* What came through the pipes may have coloured what follows; that is all it can do, see ring/piped.h. */
	fprintf(f, "\\builtin printf '\\e]133;D;%%s;aid=%s;id=%s\\a%s' \"$__rs_rc\" >/dev/tty; ",
		c->nonce, c->id, c->streams == EXEC_PIPES ? "\\e[m" : "");
	fprintf(f,
		"\\builtin printf 'D\\037%s\\037%s\\037%%s\\037%%s\\037%%s\\036' \"$__rs_rc\" \"$__rs_st\" \"$__rs_w\" 1<>"
		"" PLACE "7; ",
		c->nonce, c->id);
	fputs("{ __rs_id= __rs_d=; [ -z \"$__rs_xt\" ] || \\builtin set -x; [ $__rs_rc = 0 ] || __rs_status && :; } "
	      "2>/dev/null\n",
		f);
}

char *integration_first_script(const struct integration_command *command, size_t *ret_length)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_length);
	if (!f)
		return NULL;
	put_before(f, command);
	put_command(f, command);
	put_after(f, command);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
