/*
 * The script for zsh: its header, variables, and the code that the typed line evaluates. The
 * functions of init.zsh run with zsh's default options. The script is read with the user's options,
 * so it uses only syntax that no option changes.
 */
#include "shell/exec/integration_internal.h"
#include "shell/memory_stream.h"

#include <string.h>

/* Print code that saves the variables and the directory as code in __rs_u, to restore them. */
static void put_restore(FILE *f, const struct integration_command *c)
{
	for (size_t i = 0; i < c->env_count; i++) {
		const char *name = c->env_names[i];
		fprintf(f,
			"; __rs_u+='builtin unset %s;'; if (( $+%s )); then builtin typeset -p %s "
			">|\"/proc/$PPID/fd/6\"; __rs_u+=\"$(<\"/proc/$PPID/fd/6\")\"$'\\n'; fi",
			name, name, name);
	}
	if (c->cwd)
		fputs("; __rs_u+=\"builtin cd -q -- ${(q)PWD}; ${OLDPWD+OLDPWD=${(q)OLDPWD};}\"", f);
}

char *integration_zsh_script(const struct integration_command *c, size_t *ret_length)
{
	char *text = NULL;
	FILE *f = memory_stream(&text, ret_length);
	if (!f)
		return NULL;
	integration_put_command(f, c);
	fputs(" __rs_u=", f);
	put_restore(f, c);
	fputc('\n', f);
	fprintf(f,
		"{ __rs_before %u %u \"${__rs_la[@]}\" || \\builtin :; } 2>/dev/null; __rs_hooks; ",
		c->up, c->column);
	fputs("{ __rs_begin \"${__rs_la[@]}\" || \\builtin :; } 2>/dev/null; { { ", f);
	integration_put_setup(f, c, "__rs_cd ");
	fprintf(f, "%s\\builtin eval \"$__rs_c\"%s }", c->isolated ? "( " : "",
		c->isolated ? " );" : ";");
	integration_put_redirections(f, c);
	/* An assignment changes $_, so save it first. */
	fputs("; } always { { __rs_w=(\"$?\") __rs_la=(\"$_\") __rs_nt=(''); [[ -n ${__rs_none-} || "
	      "/dev/fd/1 -ef ${TTY-} || /dev/fd/1 -ef /dev/tty ]] || __rs_nt=(away); "
	      "{ [[ $FUNCNEST = 100 ]] || __rs_fn=(\"$FUNCNEST\"); FUNCNEST=100; __rs_after || \\builtin :; "
	      "FUNCNEST=${__rs_fn[@]}; __rs_yes \"${__rs_la[@]}\"; } >/dev/null; } 2>/dev/null; }\n",
		f);
	fclose(f);
	return text;
}
