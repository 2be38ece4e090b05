/*
 * The script for fish: its header, and assignments. Text is in single quotes, in which two
 * characters alone have a meaning. fish has no subshell; exec_start() refuses a command that needs
 * one.
 */
#include "shell/exec/integration_internal.h"

#include "ring/utf8.h"
#include "shell/memory_stream.h"

#include <stdlib.h>
#include <string.h>

/* Print exactly these bytes as one word. shown: with control characters made visible. */
static void put_quoted(FILE *f, const char *bytes, size_t length, bool shown)
{
	putc('\'', f);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c == '\'' || c == '\\')
			putc('\\', f);
		if (shown && (c < ' ' || c == 0x7f) && c != '\n' && c != '\t')
			fprintf(f, "^%c", c ^ 0x40);
		else
			putc(c, f);
	}
	putc('\'', f);
}

static void put_text(FILE *f, const char *text)
{
	put_quoted(f, text, strlen(text), false);
}

static void put_shown(FILE *f, const struct integration_command *c)
{
	size_t shown = utf8_cut(c->command, c->length, INTEGRATION_SHOWN_MAX);
	put_quoted(f, c->command, shown, true);
	if (shown < c->length)
		fprintf(f, "' ... (%zu bytes in all)'", c->length);
}

static void put_variables(FILE *f, const struct integration_command *c)
{
	fputs("set -g __rs_c ", f);
	put_quoted(f, c->command, c->length, false);
	if (integration_can_append_line(c->command, c->length))
		fputs("\\n__rs_keep", f);
	fputs("\nset -g __rs_v ", f);
	put_shown(f, c);
	fprintf(f, "\nset -g __rs_i %s\nset -g __rs_p %s\n", c->id,
		c->streams == EXEC_PIPES ? "\\e'[m'" : "''");
	if (c->cwd)
		fputs("set -g __rs_u \"$PWD\"\n", f);
}

static void put_redirections(FILE *f, const struct integration_command *c)
{
	if (c->input) {
		fputs(" <", f);
		put_text(f, c->input);
	}
	if (c->streams == EXEC_PIPES)
		fputs(" >>$__rs_h/8 2>>$__rs_h/9", f);
	if (c->streams == EXEC_TERMINALS) {
		fputs(" 2>", f);
		put_text(f, c->error_terminal);
	}
}

/* Print the code that the typed line evaluates. */
static void put_code(FILE *f, const struct integration_command *c)
{
	fprintf(f, "__rs_before %u %u; begin; ", c->up, c->column);
	for (size_t i = 0; i < c->env_count; i++) {
		fprintf(f, "set -lx %s ", c->env_names[i]);
		put_text(f, c->env_values[i]);
		fputs("; ", f);
	}
	if (c->cwd) {
		fputs("if builtin cd -- ", f);
		put_text(f, c->cwd);
		fputs("; ", f);
	}
	fputs("__rs_status; builtin eval $__rs_c", f);
	fputs(c->cwd ? "; end; end" : "; end", f);
	put_redirections(f, c);
	fputs("; __rs_after $status", f);
}

char *integration_fish_script(const struct integration_command *c, size_t *ret_length)
{
	char *text = NULL, *line = NULL;
	size_t length;
	FILE *f = memory_stream(&line, &length);
	if (!f)
		return NULL;
	put_code(f, c);
	if (fclose(f) != 0 || !(f = memory_stream(&text, ret_length))) {
		free(line);
		return NULL;
	}
	put_variables(f, c);
	fputs("set -g __rs_x ", f);
	put_quoted(f, line, length, false);
	fputc('\n', f);
	free(line);
	fclose(f);
	return text;
}
