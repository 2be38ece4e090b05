/* A call of `ringside tmux`. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/tmux/model.h"

#include <limits.h>

#define TMUX_VERSION "3.3a" /* the version that is emulated */

/* The context of a call, shared by all its commands. */
struct tmux {
	struct cli *cli;
	struct arena arena;
	struct model model;
	char path[PATH_MAX]; /* names the tmux server; the lock file */
	int lock;            /* descriptor of the lock file; -1: not locked */
	int pane;            /* id of the pane that we run in; -1: none */
	unsigned depth;      /* nesting of commands that run commands */
	int status;          /* exit status, if it is neither 0 nor 1 */
	bool help;           /* --help was given */
	bool damaged;        /* the state could not be read: do not overwrite it */
	json_t *lost; /* ids of created sessions that could not be written to the state; owned; or NULL */
	char *state; /* as read, state_length bytes; in the arena; NULL: no file */
	size_t state_length;
	struct text out;    /* standard output; printed without the lock, because the reader */
	struct text errors; /* may wait for it; standard error likewise */
	const char *file;   /* -f: commands to run when a tmux server starts; NULL: none */
};

/* What a target names. All may be NULL. */
struct place {
	struct session *session;
	struct link *link;
	struct window *window;
	struct pane *pane;
	int index; /* of a window that may not exist; -1: not given */
};

/* Format text for standard output, which tmux_flush() prints. */
void tmux_say(struct tmux *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As tmux_say(): a text and a newline. */
void tmux_say_line(struct tmux *t, const char *text);
/* As tmux_say(): length bytes. */
void tmux_say_bytes(struct tmux *t, const char *bytes, size_t length);
/* Print what was collected. The lock must be released. Returns 0, or 1 if standard output failed. */
int tmux_flush(struct tmux *t);

/* Format a line for standard error, which tmux_flush() prints. Returns 1. */
int tmux_error(struct tmux *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `ringside tmux`. */
extern const struct command command_tmux;
