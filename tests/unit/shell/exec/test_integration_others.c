#include "shell/exec/integration.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE "0123456789abcdef0123456789abcdef"

static const struct {
	enum integration_shell shell;
	const char *name, *checks, *file, *first;
} others[] = {
	{INTEGRATION_ZSH, "zsh", "zsh -fn", "shell/.zshenv", "zsh -f"},
	{INTEGRATION_FISH, "fish", "fish --no-config -n", "shell/init.fish", "fish --no-config"},
};
#define OTHERS (sizeof others / sizeof *others)

static int run(const char *command, const char *text, size_t length)
{
	FILE *f = popen(command, "w");
	cr_assert(f);
	cr_assert_eq(fwrite(text, 1, length, f), length);
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct integration_command command_of(enum integration_shell shell, const char *text)
{
	return (struct integration_command){.shell = shell,
		.id = "exec_1",
		.command = text,
		.length = strlen(text),
		.up = 1,
		.column = 3};
}

Test(integration_others, init_files_are_valid_and_have_the_nonce)
{
	for (size_t i = 0; i < OTHERS; i++) {
		const struct integration_init init = {
			.shell = others[i].shell, .nonce = NONCE, .path = "/a 'b'\n$c"};
		char *text = integration_init(&init);
		cr_assert(text);
		cr_assert_eq(run(others[i].checks, text, strlen(text)), 0, "%s", others[i].name);
		cr_assert(strstr(text, "__rs_n"));
		cr_assert(strstr(text, NONCE));
		cr_assert_not(strstr(text, "@NONCE@"));
		cr_assert_not(strstr(text, "@ZDOTDIR@"));
		cr_assert_str_eq(integration_file(others[i].shell), others[i].file);
		free(text);
	}
}

Test(integration_others, zsh_restores_zdotdir)
{
	struct integration_init init = {.shell = INTEGRATION_ZSH, .nonce = NONCE};
	char *text = integration_init(&init);
	cr_assert(strstr(text, "\\builtin unset ZDOTDIR\n"));
	free(text);
	init.path = "it's";
	text = integration_init(&init);
	cr_assert(strstr(text, "\\builtin export ZDOTDIR=$'it\\'s'\n"));
	free(text);
}

/* For any command and options the shell can parse the script. */
Test(integration_others, scripts_are_valid, .timeout = 60)
{
	static const char *const commands[] = {"true", "echo 'a' \"b\" $c `d` \\", "cat <<E\nx\nE",
		"a | b", "\001\033[m\r\n\t", "$'\\''", "\303\251\344\270\226", "if", ")", "#", "'",
		"\\'"};
	static const char *const names[] = {"A", "_b"}, *const values[] = {"it's", "\n$x`y`\\"};
	for (size_t i = 0; i < OTHERS; i++) {
		for (size_t k = 0; k < 3 * sizeof commands / sizeof *commands; k++) {
			size_t length;
			struct integration_command c = command_of(others[i].shell, commands[k / 3]);
			c.streams = (enum exec_streams)(k % 3);
			c.error_terminal = "/dev/pts/0";
			if (k % 3 > 0) {
				c.cwd = "/a b'c\n";
				c.env_names = names;
				c.env_values = values;
				c.env_count = 2;
				c.input = "/dev/null";
			}
			char *text = integration_script(&c, &length);
			cr_assert(text);
			cr_assert_eq(strlen(text), length);
			cr_assert_eq(text[length - 1], '\n');
			cr_assert_eq(run(others[i].checks, text, length), 0, "%s: %s",
				others[i].name, text);
			free(text);
		}
	}
}

/* zsh reads lines: variables, and the command. */
Test(integration_others, script_of_zsh_has_two_lines)
{
	size_t length;
	struct integration_command c = command_of(INTEGRATION_ZSH, "cat <<E\nx\nE\n");
	char *text = integration_script(&c, &length), *line = strchr(text, '\n');
	cr_assert(line);
	cr_assert_eq(strchr(line + 1, '\n'), text + length - 1);
	free(text);
}

/* The command reaches the shell byte by byte. */
Test(integration_others, bytes_are_quoted_exactly)
{
	char command[128], check[200], back[200];
	for (int i = 1; i < 128; i++)
		command[i - 1] = (char)i;
	command[127] = '\0';
	for (size_t i = 0; i < OTHERS; i++) {
		size_t length;
		char file[] = "/tmp/ringside-quoted-XXXXXX";
		struct integration_command c = command_of(others[i].shell, command);
		char *text = integration_script(&c, &length);
		bool fish = others[i].shell == INTEGRATION_FISH;
		int fd = mkstemp(file);
		/* Leave out the part that runs the command. */
		char *end = strstr(text, fish ? "\\n__rs_keep" : " __rs_v=");
		cr_assert(end);
		*end = '\0';
		int n = snprintf(check, sizeof check, "\nprintf %%s \"$__rs_c\" >%s\n", file);
		char *all = malloc(strlen(text) + (size_t)n + 1);
		strcpy(all, text);
		strcat(all, check);
		cr_assert_eq(run(others[i].first, all, strlen(all)), 0, "%s", others[i].name);
		cr_assert_eq(read(fd, back, sizeof back), 127, "%s", others[i].name);
		cr_assert_eq(memcmp(back, command, 127), 0, "%s", others[i].name);
		unlink(file);
		close(fd);
		free(all);
		free(text);
	}
}

Test(integration_others, shown_command_has_no_control_characters)
{
	for (size_t i = 0; i < OTHERS; i++) {
		size_t length;
		struct integration_command c = command_of(others[i].shell, "a\033[31mb");
		char *text = integration_script(&c, &length);
		char *shown = strstr(text, "__rs_v");
		cr_assert(shown);
		cr_assert_not(strchr(shown, '\033'), "%s", text);
		free(text);
	}
}
