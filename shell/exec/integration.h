/*
 * Shell integration: the bash text that lets a session's shell say where prompts and commands begin and end,
 * and run a command for a program as if it had been typed. Pure: text in, text out.
 *
 * The shell starts with the file that integration_init() gives. To run a command, the text of
 * integration_script() is put into the holder's script (WIRE_PLACE_SCRIPT) and INTEGRATION_LOAD and a CR are
 * typed; INTEGRATION_BACK puts the line back that somebody had half typed. See shell/output/record.h and
 * shell/output/marks.h for what comes back. Needs bash 5.1 or newer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTEGRATION_NONCE_LENGTH 32u
#define INTEGRATION_VERSION 3        /* of the init file; the first releases have none */
#define INTEGRATION_SEALED 3         /* from that on what is typed has a seal (shell/exec/seal.h) */
#define INTEGRATION_FILE "init.bash" /* in the session's directory */
#define INTEGRATION_FILE_NEW "init.bash.new"
#define INTEGRATION_LOAD "\033[57399;17~"
#define INTEGRATION_BACK "\033[57399;19~"
#define INTEGRATION_STATE "\033[57399;21~"      /* write down functions and aliases, then say S */
#define INTEGRATION_SHOWN_MAX ((size_t)4 << 10) /* bytes of a command that are shown */

/* Where a command's output goes. */
enum exec_streams {
	EXEC_TERMINAL,  /* all to the session's terminal */
	EXEC_PIPES,     /* standard output and error to a pipe each */
	EXEC_TERMINALS, /* standard error to a terminal of its own */
};

struct integration_command {
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
	bool isolated;              /* in a subshell: what it does to the shell is lost */
	bool first;                 /* the shell has the init file of the first releases */
	unsigned up, column; /* how to get to the end of the prompt: rows up, column from 1 */
};

/* Whether this program can be a shell with integration: a bash. */
bool integration_is_possible(const char *shell);

/*
 * What the shell reads when it starts. path: of the file that it will be in, when the shell is to make place for a
 * new one in its process when it ends, or NULL. Owned by the caller; NULL when memory is short.
 */
char *integration_init(const char *nonce, const char *path);

/* What the shell runs for a command: one line. Owned by the caller; NULL when memory is short. */
char *integration_script(const struct integration_command *command, size_t *ret_length);

/* Characters of the line that calls the script, which is shown for a moment: holder is its process. */
size_t integration_line_length(bool first, int holder);
