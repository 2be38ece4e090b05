#include "shell/exec/shell_arguments.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *program;
	const char *arguments[5];
	enum integration_shell shell;
	const char *passed; /* separated by spaces */
	const char *files;  /* in the text that sources them; NULL: no file */
} cases[] = {
	{"bash", {NULL}, INTEGRATION_BASH, "", "~/.bashrc"},
	{"bash", {"--norc", "-i"}, INTEGRATION_BASH, "", NULL},
	{"/bin/bash", {"--rcfile", "a 'b'"}, INTEGRATION_BASH, "", "$'a \\'b\\''"},
	{"bash", {"-l"}, INTEGRATION_BASH, "", "~/.bash_profile"},
	{"bash", {"-l", "--noprofile"}, INTEGRATION_BASH, "", NULL},
	{"bash", {"-o", "vi", "-O", "autocd"}, INTEGRATION_BASH, "-o vi -O autocd", "~/.bashrc"},
	{"bash", {"--rcfile"}, INTEGRATION_NONE, NULL, NULL},
	{"bash", {"-o", "posix"}, INTEGRATION_NONE, NULL, NULL},
	{"bash", {"-c", "true"}, INTEGRATION_NONE, NULL, NULL},
	{"bash", {"--noediting"}, INTEGRATION_NONE, NULL, NULL},
	{"bash", {""}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"-f", "-l"}, INTEGRATION_ZSH, "-l", "unsetopt rcs"},
	{"zsh", {"-o", "nozle"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"-o", "N_o_Z_LE"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"+o", "zle"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"+o", "use_zle"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"+o", "NO_ZLE"}, INTEGRATION_ZSH, "+o NO_ZLE", "/.zshenv"},
	{"zsh", {"-o", "no_rcs"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"-o", "SINGLE_command"}, INTEGRATION_NONE, NULL, NULL},
	{"zsh", {"-o", "noNotify", "-o", "no"}, INTEGRATION_ZSH, "-o noNotify -o no", "/.zshenv"},
	{"zsh", {"-o", "an_option_that_is_longer_than_any_other_one"}, INTEGRATION_ZSH,
		"-o an_option_that_is_longer_than_any_other_one", "/.zshenv"},
	{"zsh", {"--norc"}, INTEGRATION_NONE, NULL, NULL},
	{"fish", {"-N", "-C", "set x 1"}, INTEGRATION_FISH, "-N -C set x 1", NULL},
	{"fish", {"script"}, INTEGRATION_NONE, NULL, NULL},
	{"dash", {NULL}, INTEGRATION_NONE, NULL, NULL},
};

Test(shell_arguments, are_parsed_as_the_shell_does)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *words[8], *const *arguments = cases[i].arguments;
		char text[100] = "", *files = NULL;
		size_t length;
		enum integration_shell shell = shell_arguments_shell(cases[i].program, arguments);
		cr_assert_eq(shell, cases[i].shell, "%zu", i);
		if (!cases[i].passed)
			continue;
		size_t count = shell_arguments_passed(shell, arguments, words);
		cr_assert_null(words[count]);
		for (size_t k = 0; k < count; k++)
			sprintf(text + strlen(text), "%s%s", k > 0 ? " " : "", words[k]);
		cr_assert_str_eq(text, cases[i].passed);
		FILE *f = open_memstream(&files, &length);
		shell_arguments_put_files(f, shell, arguments);
		fclose(f);
		if (cases[i].files)
			cr_assert(strstr(files, cases[i].files), "%zu: %s", i, files);
		else
			cr_assert_str_eq(files, "", "%zu: %s", i, files);
		free(files);
	}
}
