#include "shell/exec/integration.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE "0123456789abcdef0123456789abcdef"

/* The exit status of a shell that reads this text. */
static int run_in(const char *shell, const char *arguments, const char *text, size_t length)
{
	char command[200];
	snprintf(command, sizeof command, "%s %s", shell, arguments);
	FILE *f = popen(command, "w");
	cr_assert(f);
	cr_assert_eq(fwrite(text, 1, length, f), length);
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *arguments, const char *text, size_t length)
{
	return run_in("bash", arguments, text, length);
}

static char *init_of(enum integration_shell shell, const char *path)
{
	const struct integration_init init = {.shell = shell, .nonce = NONCE, .path = path};
	return integration_init(&init);
}

static struct integration_command plain(const char *command)
{
	return (struct integration_command){.shell = INTEGRATION_BASH,
		.id = "exec_1",
		.command = command,
		.length = strlen(command),
		.up = 1,
		.column = 3};
}

Test(integration, supported_shells)
{
	cr_assert_eq(integration_shell_of("bash"), INTEGRATION_BASH);
	cr_assert_eq(integration_shell_of("/usr/bin/bash"), INTEGRATION_BASH);
	cr_assert_eq(integration_shell_of("/bin/zsh"), INTEGRATION_ZSH);
	cr_assert_eq(integration_shell_of("fish"), INTEGRATION_FISH);
	cr_assert_eq(integration_shell_of("sh"), INTEGRATION_NONE);
	cr_assert_eq(integration_shell_of("dash"), INTEGRATION_NONE);
	cr_assert_eq(integration_shell_of("/bin/bash/zsh5"), INTEGRATION_NONE);
	cr_assert_eq(integration_shell_of("rbash"), INTEGRATION_NONE);
	cr_assert_eq(integration_shell_of(""), INTEGRATION_NONE);
}

Test(integration, init_file_is_valid_and_has_the_nonce)
{
	char *text = init_of(INTEGRATION_BASH, NULL);
	cr_assert(text);
	cr_assert_eq(run("-n", text, strlen(text)), 0);
	cr_assert(strstr(text, "__rs_n=" NONCE " "));
	cr_assert_not(strchr(text, '@') && strstr(text, "@NONCE@"));
	free(text);
}

Test(integration, init_file_of_a_shell_that_can_be_replaced)
{
	char *text = init_of(INTEGRATION_BASH, "/run/a 'b'\n$c/init.bash");
	cr_assert(text);
	cr_assert_eq(run("-n", text, strlen(text)), 0);
	cr_assert(strstr(text, "__rs_f=$'/run/a \\'b\\'\\012$c/init.bash' "));
	free(text);
	/* Without a holder, traps are unchanged. */
	text = init_of(INTEGRATION_BASH, "/nowhere");
	char *longer = malloc(strlen(text) + 100);
	sprintf(longer, "%s\n__rs_prompt; [ -z \"$(trap -p EXIT)\" ]\n", text);
	cr_assert_eq(run("--norc 2>/dev/null", longer, strlen(longer)), 0);
	sprintf(longer, "%s\ntrap 'exit 7' EXIT; __rs_prompt; exit 0\n", text);
	cr_assert_eq(run("--norc 2>/dev/null", longer, strlen(longer)), 7);
	free(longer);
	free(text);
}

/* Two lines: variables, and the command. */
Test(integration, script_has_two_lines_for_any_command)
{
	static const char *const commands[] = {"true", "echo 'a' \"b\" $c `d` \\", "cat <<E\nx\nE",
		"a | b", "\001\177\377\033[m\r\n\t", "$'\\''", "é世🎪", "if", ")", "#"};
	static const char *const names[] = {"A", "_b"}, *const values[] = {"it's", "\n$x`y`\\"};
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		for (int more = 0; more < 4; more++) {
			size_t length;
			struct integration_command c = plain(commands[i]);
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
			char *text = integration_script(&c, &length);
			cr_assert(text);
			cr_assert_eq(strlen(text), length);
			char *line = strchr(text, '\n');
			cr_assert(line);
			line = strchr(line + 1, '\n');
			cr_assert_eq(line, text + length - 1, "%s", text);
			cr_assert_eq(run("-n", text, length), 0, "%s", text);
			free(text);
		}
	}
}

/* The command reaches the shell byte by byte: the script prints it instead of running it. */
Test(integration, bytes_are_quoted_exactly)
{
	char command[256], file[] = "/tmp/ringside-quoted-XXXXXX", back[256];
	size_t length;
	for (int i = 1; i < 256; i++)
		command[i - 1] = (char)i;
	command[255] = '\0';
	struct integration_command c = plain(command);
	char *text = integration_script(&c, &length);
	char *begin = strstr(text, "__rs_c=$'"), *end = strstr(begin, " __rs_v=");
	int fd = mkstemp(file);
	*end = '\0';
	char *all = malloc(length + 200);
	int n = sprintf(all, "LC_ALL=C; %s; printf %%s \"$__rs_c\" >%s", begin, file);
	cr_assert_eq(run("", all, (size_t)n), 0);
	cr_assert_eq(read(fd, back, sizeof back), 255);
	cr_assert_eq(memcmp(back, command, 255), 0);
	unlink(file);
	close(fd);
	free(all);
	free(text);
}

Test(integration, shown_command_is_short_and_without_control_characters)
{
	size_t length;
	char *long_command = malloc(100000);
	memset(long_command, 'x', 99999);
	long_command[99999] = '\0';
	struct integration_command c = plain(long_command);
	char *text = integration_script(&c, &length);
	cr_assert(strstr(text, " ... (99999 bytes in all)'"));
	free(text);
	free(long_command);
	c = plain("a\033[31mb\007");
	text = integration_script(&c, &length);
	cr_assert(strstr(text, "$'a^\\x5b[31mb^\\x47'"));
	free(text);
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
		size_t length;
		struct integration_command c = plain(cases[i].command);
		char *text = integration_script(&c, &length);
		cr_assert_eq(strstr(text, " __rs_k=1 ") != NULL, cases[i].follows, "%s",
			cases[i].command);
		free(text);
	}
}

Test(integration, length_of_the_typed_line)
{
	char *text = init_of(INTEGRATION_BASH, NULL), check[200];
	int n = snprintf(check, sizeof check,
		"\nREADLINE_LINE=half; __rs_load; [ ${#READLINE_LINE} = %zu ] && [ \"$__rs_sl\" = half ]\n",
		integration_line_length(INTEGRATION_BASH));
	text = realloc(text, strlen(text) + (size_t)n + 1);
	strcat(text, check);
	cr_assert_eq(run("--norc 2>/dev/null", text, strlen(text)), 0);
	free(text);
}
