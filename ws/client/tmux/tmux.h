/* A call of `ringside tmux`: what all its commands share. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/tmux/model.h"

#include <limits.h>

#define TMUX_VERSION "3.3a" /* whose behaviour this is */

struct tmux {
	struct cli *cli;
	struct arena arena;
	struct model model;
	char path[PATH_MAX]; /* names the server of tmux; its state lies beside it */
	int lock;            /* descriptor; -1: not held */
	bool starts;         /* a command of this call may start what does not run */
	int pane;            /* in which we run; -1: in none */
	unsigned depth;      /* of commands that run commands */
	int status;          /* to end with, where that is not 0 or 1 */
	bool help;           /* --help */
	bool damaged;        /* the state could not be read, and is left as it is */
	json_t *lost; /* ids of sessions that were begun, and could not be told; owned; NULL: none */
	char *state;  /* as it was read, length bytes; of the arena; NULL: there was none */
	size_t state_length;
	struct text out;    /* of standard output and error, said once the lock is given back: */
	struct text errors; /* whoever reads them may be waiting for it */
	const char *file;   /* -f: of settings, for a server that begins; NULL: none */
};

/* Where a target points: what was not asked for may be NULL. */
struct place {
	struct session *session;
	struct link *link;
	struct window *window;
	struct pane *pane;
	int index; /* of a window that need not be there; -1: none was given */
};

/* On standard output, when nobody waits for us any more. */
void tmux_say(struct tmux *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tmux_say_line(struct tmux *t, const char *text);
void tmux_say_bytes(struct tmux *t, const char *bytes, size_t length);
/* Say what is to be said. Returns 0, or 1 when it cannot be written. */
int tmux_flush(struct tmux *t);

/* Complain on standard error; returns 1, the status of a command that fails. */
int tmux_error(struct tmux *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

extern const struct command command_tmux;
