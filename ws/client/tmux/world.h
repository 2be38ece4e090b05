/* Panes as they are: sessions of the server. Here alone it is asked. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Ask which sessions there are, and drop panes that have ended. Returns 0, or the status to end with. */
int world_refresh(struct tmux *t);

/* Ask the server; path and body are taken. Whatever is no success is complained of. Returns 0 or 1. */
int world_ask(
	struct tmux *t, const char *method, char *path, json_t *body, struct answer *ret_answer);

struct world_start {
	const char *cwd;       /* absolute */
	json_t *argv;          /* program and arguments; NULL: the default shell; borrowed */
	json_t *env;           /* more variables; NULL: none; borrowed */
	struct session *place; /* the session of tmux it belongs to */
};

/* Give a pane its terminal: its cell says how large. Returns 0 or 1, having complained. */
int world_start(struct tmux *t, struct pane *p, const struct world_start *start);
/* End what runs in it. Returns 0 or 1. */
int world_end(struct tmux *t, struct pane *p);
/* End what was begun where the state could not be written: nobody would know of it. */
void world_end_lost(struct tmux *t);
/* Terminals get the sizes of their cells. */
int world_fit(struct tmux *t, struct window *w);

/* Out of the model, with windows and sessions that become empty. What runs there is not ended. */
void world_drop_pane(struct tmux *t, struct pane *p);
void world_drop_link(struct tmux *t, struct link *l);
void world_drop_session(struct tmux *t, struct session *s);
/* End all panes of a window, or those of a session that are in no other, and drop it. Returns 0 or 1. */
int world_end_window(struct tmux *t, struct window *w);
int world_end_session(struct tmux *t, struct session *s);

/* What a pane shows; NULL: it cannot be had. Borrowed, and asked for once a call. */
const json_t *world_screen(struct tmux *t, struct pane *p);
/* Rows above the screen that are kept, and how many may be; *ret_first: number of the oldest. */
int64_t world_history(struct tmux *t, struct pane *p, int64_t *ret_first, int64_t *ret_limit);
/* What runs in front, and where; "" when it is not known. */
char *world_command(struct tmux *t, const struct pane *p);
char *world_directory(struct tmux *t, const struct pane *p);
/* The name of a window: that which runs in it, where it is not named. */
char *world_window_name(struct tmux *t, const struct window *w);
/* A command line as the name of what it runs: "/bin/sleep 3" is sleep. */
char *world_program(struct tmux *t, const char *command);
/* When a process began, in ticks since the start of the system; 0: there is none. */
uint64_t world_birth(int pid);
/* End the command of pipe-pane, if there is one. */
void world_end_pipe(struct pane *p);
