/*
 * Everything that bash has is used under its own name (\builtin), for users have aliases and functions, and
 * nothing here may fail or print under set -e, set -u, set -x and noclobber. Names begin with __rs_.
 */
#include "shell/integration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "/proc/$PPID/fd/"
#define LOOKS_AT_PIPES 3000u /* of some 15 us, at the most */

/*
 * __rs_load and __rs_back are what the private keys call; __rs_back puts the line around what has been typed since. The history is switched off while the line that
 * calls the script is accepted, and on again by the script, or by the next prompt if that did not run.
 *
 * __rs_prompt: PROMPT_COMMAND's element 99 outlives PROMPT_COMMAND=something. The prompt is dressed again
 * when somebody has replaced it. __rs_u undoes what a command that was interrupted could not.
 */
static const char init_text[] =
	"# The user's own first, then what Ringside needs to know where commands begin and end.\n"
	"[ ! -r ~/.bashrc ] || . ~/.bashrc\n"
	"__rs_n=@NONCE@ __rs_id= __rs_d= __rs_u= __rs_ho= __rs_sl= __rs_sp=0\n"
	"__rs_load() {\n"
	"\tif [[ -o history ]]; then __rs_ho=1; \\builtin set +o history; fi\n"
	"\t__rs_sl=$READLINE_LINE __rs_sp=$READLINE_POINT\n"
	"\tREADLINE_LINE=\" . " PLACE "5\" READLINE_POINT=${#READLINE_LINE}\n"
	"}\n"
	"__rs_back() {\n"
	"\t\\builtin local p=${__rs_sp:-0}\n"
	"\tREADLINE_LINE=${__rs_sl:0:p}$READLINE_LINE${__rs_sl:p} READLINE_POINT=$((READLINE_POINT + p))\n"
	"\t__rs_sl= __rs_sp=0\n"
	"}\n"
	"__rs_prompt() {\n"
	"\t__rs_rc=$? __rs_st=\"${PIPESTATUS[@]}\"\n"
	"\t\\builtin local rc id cwd\n"
	"\trc=$__rs_rc id=${__rs_id-} cwd=$PWD\n"
	"\t__rs_d=$id __rs_id=\n"
	"\t[ -z \"${__rs_ho-}\" ] || { \\builtin set -o history; __rs_ho=; }\n"
	"\tcase $cwd in *[[:cntrl:]]*) cwd= ;; esac\n"
	"\t[ ${#cwd} -lt 900 ] || cwd=\n"
	"\t\\builtin printf '\\e]133;D;%s;aid=%s;id=%s\\a' $rc \"$__rs_n\" \"$id\" >/dev/tty\n"
	"\tcase ${PS1-} in *\"$__rs_n\"*) ;; *)\n"
	"\t\tPS1='\\[\\e]133;D;$?;aid='$__rs_n';id=${__rs_d-}\\a\\e]133;A;aid='$__rs_n'\\a\\]'${PS1-}'\\[\\e]133;B;aid='$__rs_n'\\a\\]' ;;\n"
	"\tesac\n"
	"\tcase ${PS2-} in *\"$__rs_n\"*) ;; *) PS2='\\[\\e]133;P;k=s;aid='$__rs_n'\\a\\]'${PS2-}'\\[\\e]133;P;k=e;aid='$__rs_n'\\a\\]' ;; esac\n"
	"\tcase ${PS0-} in *\"$__rs_n\"*) ;; *) PS0='\\e]133;C;aid='$__rs_n';t=${EPOCHREALTIME-}\\a'${PS0-} ;; esac\n"
	"\t\\builtin declare -px >|" PLACE "6\n"
	"\t\\builtin printf 'P\\037%s\\037%s\\037%s\\037%s\\037%s\\036' \"$__rs_n\" $rc \"$id\" \"$cwd\" \"$__rs_st\" 1<>" PLACE
	"7\n"
	"\t\\builtin return 0\n"
	"}\n"
	"__rs_state() {\n"
	"\t{ { \\builtin declare -px; \\builtin printf 'shopt -s expand_aliases\\n'; \\builtin alias -p; \\builtin declare -f;\n"
	"\t\t\\builtin printf 'unset -f __rs_load __rs_back __rs_prompt __rs_state __rs_status __rs_exit\\n'; } >|" PLACE
	"6\n"
	"\t\\builtin printf 'S\\037%s\\037%s\\037\\036' \"$__rs_n\" state 1<>" PLACE
	"7; } 2>/dev/null\n"
	"}\n"
	"PROMPT_COMMAND[0]=${PROMPT_COMMAND[0]-}\n"
	"PROMPT_COMMAND[99]='{ __rs_prompt; \\builtin eval \"${__rs_u-}\"; __rs_u=; } 2>/dev/null'\n"
	"for __rs_m in emacs vi-insert vi-command; do\n"
	"\t\\builtin bind -m $__rs_m -x '\"\\e[57399;17~\": __rs_load' 2>/dev/null\n"
	"\t\\builtin bind -m $__rs_m -x '\"\\e[57399;19~\": __rs_back' 2>/dev/null\n"
	"\t\\builtin bind -m $__rs_m -x '\"\\e[57399;21~\": __rs_state' 2>/dev/null\n"
	"done\n"
	"\\builtin unset -v __rs_m\n"
	"{ \\command stty -ixon || :; } 2>/dev/null\n";

/*
 * At its end the shell makes place for a new one: the same process, terminal, directory and exported variables.
 * Not when the session is being deleted (the server has said so in the session's directory), when its holder
 * has died (nobody takes the record), or within a second of its start, which would go on for ever. A trap that
 * the user has set is left alone. The terminal is opened anew: the streams may lead elsewhere.
 */
static const char exit_text[] =
	" __rs_b=${EPOCHREALTIME//[!0-9]/}\n"
	"__rs_exit() {\n"
	"\t\\builtin local rc=$?\n"
	"\t\\builtin set +eux\n"
	"\t\\builtin local now=${EPOCHREALTIME//[!0-9]/} id=${__rs_id-}\n"
	"\t[ -n \"$now\" ] && [ $((now - ${__rs_b:-now})) -ge 1000000 ] && [ ! -e \"${__rs_f%/*}/ending\" ] &&\n"
	"\t\t[ -r \"$__rs_f\" ] && [ -x \"$BASH\" ] && [ -w \"$__rs_y\" ] || \\builtin return 0\n"
	"\t[ -z \"$id\" ] || \\builtin printf '\\e]133;D;%s;aid=%s;id=%s\\a' $rc \"$__rs_n\" \"$id\" >\"$__rs_y\"\n"
	"\t\\builtin printf 'X\\037%s\\037%s\\037%s\\036' \"$__rs_n\" $rc \"$id\" 1<>" PLACE "7 &&\n"
	"\t\t\\builtin exec \"$BASH\" --rcfile \"$__rs_f\" -i <>\"$__rs_y\" >&0 2>&0\n"
	"}\n"
	"if [ -z \"$(\\builtin trap -p EXIT)\" ] && __rs_y=$(\\command tty); then\n"
	"\t\\builtin trap '{ __rs_exit; } 2>/dev/null' EXIT\n"
	"fi\n";

bool integration_is_possible(const char *shell)
{
	const char *slash = strrchr(shell, '/');
	return strcmp(slash ? slash + 1 : shell, "bash") == 0;
}

size_t integration_line_length(int holder)
{
	return (size_t)snprintf(NULL, 0, " . /proc/%d/fd/5", holder);
}

/* The script */

static void put_char(FILE *f, unsigned char c)
{
	if (c == '\'' || c == '\\')
		fprintf(f, "\\%c", c);
	else if (c >= ' ' && c < 0x7f)
		fputc(c, f);
	else
		fprintf(f, "\\%03o", c);
}

/* $'...', which stands for exactly these bytes and has no line break. */
static void put_quoted(FILE *f, const char *bytes, size_t length)
{
	fputs("$'", f);
	for (size_t i = 0; i < length; i++)
		put_char(f, (unsigned char)bytes[i]);
	fputc('\'', f);
}

static void put_text(FILE *f, const char *text)
{
	put_quoted(f, text, strlen(text));
}

char *integration_init(const char *nonce, const char *path)
{
	char *text = NULL;
	size_t length;
	const char *gap = strstr(init_text, "@NONCE@");
	FILE *f = open_memstream(&text, &length);
	if (!f)
		return NULL;
	fprintf(f, "%.*s%s%s", (int)(gap - init_text), init_text, nonce, gap + strlen("@NONCE@"));
	if (path) {
		fputs("__rs_f=", f);
		put_text(f, path);
		fputs(exit_text, f);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* The command as it would have been typed: control characters made visible, no more than a screenful or so. */
static void put_shown(FILE *f, const char *command, size_t length)
{
	size_t shown = length;
	if (shown > INTEGRATION_SHOWN_MAX) {
		shown = INTEGRATION_SHOWN_MAX;
		while (shown > 0 && ((unsigned char)command[shown] & 0xc0) == 0x80)
			shown--;
	}
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

/* The directory and the variables of the command, in the group whose streams are the command's. */
static void put_circumstances(FILE *f, const struct integration_command *c)
{
	if (c->cwd) {
		fputs("\\builtin cd -- ", f);
		put_text(f, c->cwd);
		fputs(" && ", f);
	}
	for (size_t i = 0; i < c->env_count; i++) {
		fprintf(f, "\\builtin export %s=", c->env_names[i]);
		put_text(f, c->env_values[i]);
		fputs(" && ", f);
	}
}

static void put_redirections(FILE *f, const struct integration_command *c)
{
	if (c->input) {
		fputs(" <", f);
		put_text(f, c->input);
	}
	if (c->streams == EXEC_PIPES)
		fputs(" >" PLACE "8 2>" PLACE "9", f);
	if (c->streams == EXEC_TERMINALS) {
		fputs(" 2>", f);
		put_text(f, c->error_terminal);
	}
}

static void put_before(FILE *f, const struct integration_command *c)
{
	/* A status without a fork: while bash waits for a child that does not end by a signal, a Ctrl-C is lost. */
	fputs("{ __rs_rc=$? __rs_xt=; __rs_status() { \\builtin return $__rs_rc; }; case $- in *x*) __rs_xt=1; \\builtin set +x ;; esac; } 2>/dev/null; ",
		f);
	fprintf(f, "\\builtin printf '\\e[%uA\\e[%uG\\e[J%%s\\n\\e]133;C;aid=%s;id=%s\\a' ", c->up,
		c->column, c->nonce, c->id);
	put_shown(f, c->command, c->length);
	fputs(" >/dev/tty; __rs_c=", f);
	put_quoted(f, c->command, c->length);
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
	put_circumstances(f, c);
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
	fprintf(f, "\\builtin printf '\\e]133;D;%%s;aid=%s;id=%s\\a' \"$__rs_rc\" >/dev/tty; ",
		c->nonce, c->id);
	fprintf(f,
		"\\builtin printf 'D\\037%s\\037%s\\037%%s\\037%%s\\037%%s\\036' \"$__rs_rc\" \"$__rs_st\" \"$__rs_w\" 1<>"
		"" PLACE "7; ",
		c->nonce, c->id);
	fputs("{ __rs_id= __rs_d=; [ -z \"$__rs_xt\" ] || \\builtin set -x; [ $__rs_rc = 0 ] || __rs_status && :; } "
	      "2>/dev/null\n",
		f);
}

char *integration_script(const struct integration_command *command, size_t *ret_length)
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
