/* What the server sends to shells: they parse it, and run parts of it. */
#include "shell/exec/integration.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE "0123456789abcdef0123456789abcdef"

static const struct kind {
	enum integration_shell shell;
	const char *name, *checks, *runs; /* commands that only parse, and that run, their input */
	const char *file;
	int bytes;       /* of an encoding in which any byte is a character: 256, else 128 */
	bool by_lines;   /* the shell reads two lines: variables, and the command */
	const char *end; /* of the part of a script that only sets variables */
} kinds[] = {
	{INTEGRATION_BASH, "bash", "bash -n", "LC_ALL=C bash --norc 2>/dev/null", "shell/init.bash",
		256, true, " __rs_v="},
	{INTEGRATION_ZSH, "zsh", "zsh -fn", "zsh -f", "shell/.zshenv", 128, true, " __rs_v="},
	{INTEGRATION_FISH, "fish", "fish --no-config -n", "fish --no-config", "shell/init.fish",
		128, false, "\\n__rs_keep"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static char *text; /* the last one that was made */
static size_t length;

static void forget(void)
{
	free(text);
	text = NULL;
}

TestSuite(integration, .fini = forget, .timeout = 60);

/* The exit status of a shell that reads the text, and then more. */
static int run(const char *command, const char *more)
{
	FILE *f = popen(command, "w");
	cr_assert(f);
	cr_assert_geq(fprintf(f, "%s%s", text, more), 0);
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_init(enum integration_shell shell, const char *path)
{
	const struct integration_init init = {.shell = shell, .nonce = NONCE, .path = path};
	forget();
	text = integration_init(&init);
	cr_assert(text);
}

static struct integration_command command_of(const struct kind *kind, const char *command)
{
	return (struct integration_command){.shell = kind->shell,
		.id = "exec_1",
		.command = command,
		.length = strlen(command),
		.up = 1,
		.column = 3};
}

static void make_script(const struct integration_command *c)
{
	forget();
	text = integration_script(c, &length);
	cr_assert(text);
	cr_assert_eq(strlen(text), length);
}

static void make_plain(const struct kind *kind, const char *command)
{
	const struct integration_command c = command_of(kind, command);
	make_script(&c);
}

Test(integration, supported_shells)
{
	static const struct {
		const char *program;
		enum integration_shell want;
	} cases[] = {{"bash", INTEGRATION_BASH}, {"/usr/bin/bash", INTEGRATION_BASH},
		{"/bin/zsh", INTEGRATION_ZSH}, {"fish", INTEGRATION_FISH}, {"sh", INTEGRATION_NONE},
		{"dash", INTEGRATION_NONE}, {"/bin/bash/zsh5", INTEGRATION_NONE},
		{"rbash", INTEGRATION_NONE}, {"", INTEGRATION_NONE}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(integration_shell_of(cases[i].program), cases[i].want, "%s",
			cases[i].program);
}

Test(integration, init_files_are_valid_and_have_the_nonce)
{
	static const char *const paths[] = {NULL, "/a 'b'\n$c"};
	for (size_t i = 0; i < 2 * KINDS; i++) {
		const struct kind *k = &kinds[i / 2];
		make_init(k->shell, paths[i % 2]);
		cr_expect_eq(run(k->checks, ""), 0, "%s", k->name);
		cr_expect(strstr(text, "__rs_n"), "%s", k->name);
		cr_expect(strstr(text, NONCE), "%s", k->name);
		cr_expect_not(strstr(text, "@NONCE@"), "%s", k->name);
		cr_expect_not(strstr(text, "@ZDOTDIR@"), "%s", k->name);
		cr_expect_str_eq(integration_file(k->shell), k->file);
	}
}

Test(integration, init_file_of_a_shell_that_can_be_replaced)
{
	make_init(INTEGRATION_BASH, "/run/a 'b'\n$c/init.bash");
	cr_assert(strstr(text, "__rs_n=" NONCE " "));
	cr_assert(strstr(text, "__rs_f=$'/run/a \\'b\\'\\012$c/init.bash' "));
	/* Without a holder, traps are unchanged. */
	make_init(INTEGRATION_BASH, "/nowhere");
	cr_assert_eq(run(kinds->runs, "\n__rs_prompt; [ -z \"$(trap -p EXIT)\" ]\n"), 0);
	cr_assert_eq(run(kinds->runs, "\ntrap 'exit 7' EXIT; __rs_prompt; exit 0\n"), 7);
}

Test(integration, zsh_restores_zdotdir)
{
	make_init(INTEGRATION_ZSH, NULL);
	cr_assert(strstr(text, "\\builtin unset ZDOTDIR\n"));
	make_init(INTEGRATION_ZSH, "it's");
	cr_assert(strstr(text, "\\builtin export ZDOTDIR=$'it\\'s'\n"));
}

/* For any command and options the shell can parse the script. */
static void check_script(const struct kind *k, const char *command, int more)
{
	static const char *const names[] = {"A", "_b"}, *const values[] = {"it's", "\n$x`y`\\"};
	struct integration_command c = command_of(k, command);
	c.streams = (enum exec_streams)(more % 3);
	c.error_terminal = "/dev/pts/0";
	c.isolated = more == 3;
	if (more > 0) {
		c.cwd = "/a b'c\n";
		c.env_names = names;
		c.env_values = values;
		c.env_count = 2;
		c.input = "/dev/null";
	}
	make_script(&c);
	cr_expect_eq(text[length - 1], '\n');
	cr_expect_eq(run(k->checks, ""), 0, "%s: %s", k->name, text);
	if (k->by_lines)
		cr_expect_eq(strchr(strchr(text, '\n') + 1, '\n'), text + length - 1, "%s: %s",
			k->name, text);
}

Test(integration, scripts_are_valid)
{
	static const char *const commands[] = {"true", "echo 'a' \"b\" $c `d` \\", "cat <<E\nx\nE",
		"cat <<E\nx\nE\n", "a | b", "\001\177\377\033[m\r\n\t", "$'\\''", "é世🎪", "if", ")",
		"#", "'", "\\'"};
	for (size_t i = 0; i < KINDS; i++)
		for (size_t k = 0; k < 4 * sizeof commands / sizeof *commands; k++)
			check_script(&kinds[i], commands[k / 4], (int)(k % 4));
}

/* The command reaches the shell byte by byte: the shell prints it instead of running it. */
Test(integration, bytes_are_quoted_exactly)
{
	for (const struct kind *k = kinds; k < kinds + KINDS; k++) {
		char command[256], back[300], file[] = "/tmp/ringside-quoted-XXXXXX", print[100];
		size_t count = (size_t)k->bytes - 1;
		for (int i = 1; i < k->bytes; i++)
			command[i - 1] = (char)i;
		command[count] = '\0';
		make_plain(k, command);
		char *end = strstr(text, k->end);
		cr_assert(end, "%s", k->name);
		*end = '\0';
		int fd = mkstemp(file);
		snprintf(print, sizeof print, "\nprintf %%s \"$__rs_c\" >%s\n", file);
		cr_expect_eq(run(k->runs, print), 0, "%s", k->name);
		cr_expect_eq(read(fd, back, sizeof back), count, "%s", k->name);
		cr_expect_eq(memcmp(back, command, count), 0, "%s", k->name);
		unlink(file);
		close(fd);
	}
}

Test(integration, shown_command_is_short_and_without_control_characters)
{
	char command[100000] = "";
	memset(command, 'x', sizeof command - 1);
	make_plain(kinds, command);
	cr_assert(strstr(text, " ... (99999 bytes in all)'"));
	make_plain(kinds, "a\033[31mb\007");
	cr_assert(strstr(text, "$'a^\\x5b[31mb^\\x47'"));
	for (size_t i = 0; i < KINDS; i++) {
		make_plain(&kinds[i], "a\033[31mb");
		const char *shown = strstr(text, "__rs_v");
		cr_assert(shown);
		cr_expect_not(strchr(shown, '\033'), "%s: %s", kinds[i].name, text);
	}
}

/* A line after the command sees its statuses, unless it would become part of the command. */
Test(integration, commands_that_a_line_can_follow)
{
	static const struct {
		const char *command;
		bool follows;
	} cases[] = {{"true", true}, {"echo \\", false}, {"cat <<E\nx\nE", true},
		{"cat <<E\nx", false}, {"cat <<-'_'\nx\n\t_", true}, {"cat <<'_'\n\t_", false},
		{"cat <<<x", true}, {"cat <<A; cat <<B\nB\nA\n", true}, {"cat <<A <<B\nA\n", false},
		{"echo $((1 << 2))", false}, {"<<", false}, {"a <<", false}, {"", true}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make_plain(kinds, cases[i].command);
		cr_assert_eq(strstr(text, " __rs_k=1 ") != NULL, cases[i].follows, "%s",
			cases[i].command);
	}
}

Test(integration, length_of_the_typed_line)
{
	char check[200];
	make_init(INTEGRATION_BASH, NULL);
	snprintf(check, sizeof check,
		"\nREADLINE_LINE=half; __rs_load; [ ${#READLINE_LINE} = %zu ] && [ \"$__rs_sl\" = half ]\n",
		integration_line_length(INTEGRATION_BASH));
	cr_assert_eq(run(kinds->runs, check), 0);
}
