/* Panes and the sessions of Ringside behind them. Most requests to the server are made here. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Fetch the list of sessions and drop ended panes. Returns 0, or a status to exit with. */
int backend_refresh(struct tmux *t);

/*
 * Send a request and wait for the answer. Consumes path and body. Returns 0 with an answer to finish, or 1 with
 * an error, also for a status other than 2xx.
 */
int backend_request(
	struct tmux *t, const char *method, char *path, json_t *body, struct answer *ret_answer);

/* What to start in a pane. */
struct backend_start_pane {
	const char *cwd;       /* absolute */
	json_t *argv;          /* program and arguments; NULL: the default shell; borrowed */
	json_t *env;           /* more variables; NULL: none; borrowed */
	struct session *place; /* tmux session of the pane */
};

/* Create the session of a pane, in the size of its cell. Returns 0, or 1 with an error. */
int backend_start_pane(struct tmux *t, struct pane *p, const struct backend_start_pane *start);
/* Delete the session of a pane, which kills its programs. Returns 0, or 1 with an error. */
int backend_kill_pane(struct tmux *t, struct pane *p);
/* Delete sessions that were created before the state could not be written, because no file lists them. */
void backend_delete_lost(struct tmux *t);
/* Resize the terminals of a window to their cells. Returns 0, or 1 with an error. */
int backend_resize_panes(struct tmux *t, struct window *w);

/* Remove a pane from the model, with windows and sessions that become empty. Does not delete its session. */
void backend_remove_pane(struct tmux *t, struct pane *p);
/* Remove a link from the model, as backend_remove_pane(). */
void backend_remove_link(struct tmux *t, struct link *l);
/* Remove a session from the model, as backend_remove_pane(). */
void backend_remove_session(struct tmux *t, struct session *s);
/* Kill and remove all panes of a window. Returns 0, or 1 with an error. */
int backend_kill_window(struct tmux *t, struct window *w);
/* Remove a link; if it is the last one of its window, kill the window. Returns 0, or 1 with an error. */
int backend_unlink(struct tmux *t, struct link *l);
/* Remove all links of a session, as backend_unlink(), and the session. Returns 0, or 1 with an error. */
int backend_kill_session(struct tmux *t, struct session *s);

/* The screen of a pane, fetched once a call. Returns it borrowed, or NULL if it cannot be fetched. */
const json_t *backend_screen(struct tmux *t, struct pane *p);
/* The number of rows of scrollback. *ret_first: number of the oldest row; *ret_limit: as many rows are kept. */
int64_t backend_history(struct tmux *t, struct pane *p, int64_t *ret_first, int64_t *ret_limit);
/* The name of the foreground program; if unknown, of the program that was started. */
char *backend_command(struct tmux *t, const struct pane *p);
/* The working directory of the foreground program, or "". */
char *backend_directory(struct tmux *t, const struct pane *p);
/* The name of a window: given by the user, or that of the foreground program. */
char *backend_window_name(struct tmux *t, const struct window *w);
/* The program's name in a command line: "sleep" for "/bin/sleep 3". */
char *backend_program_name(struct tmux *t, const char *command);
/* The start time of a process, in ticks since boot (proc(5), stat); 0: no such process. */
uint64_t backend_process_start(int pid);
/* Kill the process of pipe-pane, if there is one. */
void backend_kill_pipe(struct pane *p);
