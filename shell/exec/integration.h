/*
 * Shell integration: shell code that marks where prompts and commands begin and end, and runs an
 * exec as if it had been typed. Pure: text in, text out.
 *
 * The shell starts with the init file that integration_init() makes. To run a command, the server
 * writes the text of integration_script() to the holder's script (WIRE_FIXED_FD_SCRIPT) and types
 * INTEGRATION_LOAD, a seal and CR. See shell/output/record.h and shell/output/marks.h for what the
 * shell sends back. Needs bash 5.1, zsh 5.8 or fish 3.4.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTEGRATION_NONCE_LENGTH 32u
#define INTEGRATION_LOAD "\033[57399;17~"  /* read the seal and the script, run the script */
#define INTEGRATION_BACK "\033[57399;19~"  /* put a half-typed line back */
#define INTEGRATION_STATE "\033[57399;21~" /* write functions and aliases, then send a record S */
/* Print the INTEGRATION_UNDO_LENGTH bytes that follow: ESC as E, SI as O, padded with spaces. */
#define INTEGRATION_UNDO "\033[57399;23~"
#define INTEGRATION_UNDO_LENGTH 160u
#define INTEGRATION_SHOWN_MAX ((size_t)4 << 10) /* bytes of a command that are shown */

/* The shells that have an integration. */
enum integration_shell { INTEGRATION_NONE, INTEGRATION_BASH, INTEGRATION_ZSH, INTEGRATION_FISH };

/* Where a command's output goes. */
enum exec_streams {
	EXEC_TERMINAL,  /* all to the session's terminal */
	EXEC_PIPES,     /* standard output and error to a pipe each */
	EXEC_TERMINALS, /* standard error to a terminal of its own */
};

/* A command, and how to run it. All is borrowed. */
struct integration_command {
	enum integration_shell shell;
	const char *id;
	const char *command; /* length bytes without NUL */
	size_t length;
	const char *cwd; /* directory to run in, or NULL; the shell returns to its own afterwards */
	const char *const *env_names, *const *env_values; /* for the command only */
	size_t env_count;
	const char *input; /* path of its standard input, or NULL: the terminal */
	enum exec_streams streams;
	const char *error_terminal; /* path of the terminal for standard error */
	bool history;               /* add it to the shell's history */
	bool isolated;              /* run it in a subshell, so that it does not change the shell */
	unsigned up, column; /* the end of the prompt: rows above the cursor, column from 1 */
};

/* Which shell a program is, by its name. */
enum integration_shell integration_shell_of(const char *program);

/* The name of the shell's init file, relative to the session's directory. */
const char *integration_file(enum integration_shell shell);

/* What an init file depends on. All is borrowed. */
struct integration_init {
	enum integration_shell shell;
	const char *nonce;
	/*
	 * bash: the path of the init file, if the shell is to replace itself by a new one when it
	 * exits, or NULL. zsh: the session's value of ZDOTDIR, or NULL.
	 */
	const char *path;
	const char *const *arguments; /* of the shell, ended by NULL, or NULL */
};

/* The text of the init file. Owned by the caller; NULL when memory is short. */
char *integration_init(const struct integration_init *init);

/* The script of a command. Owned by the caller; NULL when memory is short. */
char *integration_script(const struct integration_command *command, size_t *ret_length);

/* Characters of the line that runs the script, which is visible for a moment. */
size_t integration_line_length(enum integration_shell shell);
