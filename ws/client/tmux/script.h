/* Parsing of tmux commands, and running of shell commands. */
#pragma once

#include "ws/client/tmux/tmux.h"

#define SCRIPT_WORDS_MAX 100000u
#define SCRIPT_OUTPUT_MAX ((size_t)16 << 20)

/* The words of one command. */
struct script_line {
	char **words;
	unsigned count, number; /* number: line of the text, from 1 */
	struct script_line *next;
};

/* Parse commands. Returns NULL, or an error text; *ret_first is NULL if there are no commands. */
char *script_parse(struct tmux *t, const char *text, struct script_line **ret_first);

/*
 * Whether reading or writing a path cannot block on another process. Release the lock otherwise: the process
 * at the other end of a FIFO, a device or "-" may need it.
 */
bool script_cannot_block(const char *path);
/* Read a file, or for "-" standard input, up to just beyond max bytes. Returns 0 or an errno. */
int script_read_file(const char *path, size_t max, struct text *into);
/*
 * Start a shell command in the background after a delay in seconds. Its output is discarded. Returns 0, or 1
 * with an error.
 */
int script_run_background(struct tmux *t, const char *command, double delay);
/*
 * Run a shell command. Returns its output. *ret_status, which may be NULL: as of waitpid(2); -1: it could not
 * be started.
 */
char *script_capture(struct tmux *t, const char *command, int *ret_status);
