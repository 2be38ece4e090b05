/*
 * Shell integration: the text that lets a session's shell say where prompts and commands begin and end,
 * and run a command for a program as if it had been typed. Pure: text in, text out.
 *
 * The shell starts with the file that integration_init() gives. To run a command, the text of
 * integration_script() is put into the holder's script (WIRE_PLACE_SCRIPT) and INTEGRATION_LOAD and a CR are
 * typed; INTEGRATION_BACK puts the line back that somebody had half typed. See shell/output/record.h and
 * shell/output/marks.h for what comes back. Needs bash 5.1, zsh 5.8 or fish 3.4, or newer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTEGRATION_NONCE_LENGTH 32u
#define INTEGRATION_LOAD "\033[57399;17~"
#define INTEGRATION_BACK "\033[57399;19~"
#define INTEGRATION_STATE "\033[57399;21~" /* write down functions and aliases, then say S */
#define INTEGRATION_UNDO \
	"\033[57399;23~" /* print what follows: as many bytes as this, ESC as E, SI as O, filled up with spaces */
#define INTEGRATION_UNDO_LENGTH 160u
#define INTEGRATION_SHOWN_MAX ((size_t)4 << 10) /* bytes of a command that are shown */

/* The shells that can have it. */
enum integration_shell { INTEGRATION_NONE, INTEGRATION_BASH, INTEGRATION_ZSH, INTEGRATION_FISH };

/* Where a command's output goes. */
enum exec_streams {
	EXEC_TERMINAL,  /* all to the session's terminal */
	EXEC_PIPES,     /* standard output and error to a pipe each */
	EXEC_TERMINALS, /* standard error to a terminal of its own */
};

struct integration_command {
	enum integration_shell shell;
	const char *id;
	const char *nonce;
	const char *command; /* length bytes without NUL */
	size_t length;
	const char *cwd; /* where it runs, or NULL; the shell returns to where it was */
	const char *const *env_names, *const *env_values; /* for the command only */
	size_t env_count;
	const char *input; /* path of its standard input, or NULL: the terminal */
	enum exec_streams streams;
	const char *error_terminal; /* path of the terminal for standard error */
	bool history;               /* it goes into the shell's history, as if it had been typed */
	bool isolated;              /* in a subshell: what it does to the shell is lost */
	unsigned up, column; /* how to get to the end of the prompt: rows up, column from 1 */
};

/* Which shell a program is, by its name. */
enum integration_shell integration_shell_of(const char *program);

/* What its init file is called in the session's directory. */
const char *integration_file(enum integration_shell shell);

/* What is put into its init file. */
struct integration_init {
	enum integration_shell shell;
	const char *nonce;
	/*
	 * The path of the file itself, when the shell is to make place for a new one in its process when it ends, or NULL
	 * (bash); the value of ZDOTDIR that the session was to have, or NULL (zsh).
	 */
	const char *path;
	const char *const *arguments; /* of the shell, ended by NULL; NULL: none. See shell/exec/shell_arguments.h */
};

/* What the shell reads when it starts. Owned by the caller; NULL when memory is short. */
char *integration_init(const struct integration_init *init);

/* What the shell runs for a command: one line. Owned by the caller; NULL when memory is short. */
char *integration_script(const struct integration_command *command, size_t *ret_length);

/* Characters of the line that calls the script, which is shown for a moment. */
size_t integration_line_length(enum integration_shell shell);
