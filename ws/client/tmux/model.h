/*
 * What tmux has: sessions with windows, windows with panes, and what is set for them. It knows neither the server nor
 * the disk; all of it lives in one arena.
 */
#pragma once

#include "ws/client/tmux/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_PANES_MAX 512u /* all panes of a name */
#define MODEL_SIDE_MAX 1000u /* columns or rows, of a window: what a session of Ringside may have */

struct cell; /* of a layout: layout.h */

struct pane {
	unsigned id;         /* %id */
	char *session;       /* Ringside's id of it */
	char *title;         /* that select-pane -T has set, or NULL */
	char *title_then;    /* what the program had set when that was done */
	char *command, *cwd; /* as it was started; command may be "" */
	json_t *argv, *env;  /* the same, for respawn-pane; argv may be NULL; owned by the model */
	json_t *options;     /* object; owned by the model */
	struct window *window;
	struct cell *cell;    /* in the layout of the window */
	unsigned turn;        /* when it was the active one last */
	unsigned cols, rows;  /* that its terminal has been given */
	bool dead, signalled; /* it has ended and remains; by a signal */
	bool input_off;       /* select-pane -d: keys that are sent do not reach it */
	int status;           /* with which it ended; -1: nobody knows */
	int64_t died_at;      /* seconds */
	uint64_t cleared;     /* number of the first row that clear-history has left */
	unsigned history;     /* history-limit, as it was when it began; 0: nobody had set it */
	int pipe;             /* process of pipe-pane; 0: none */
	uint64_t pipe_began;  /* when that process began, in ticks: its id alone may be another's */
	json_t *info; /* of the session, as the server lists it; borrowed; NULL: there is none */
	json_t *screen; /* as the server told it in this call; owned by the model; NULL: not asked yet */
	struct pane *prev, *next;
};

struct window {
	unsigned id; /* @id */
	char *name;
	bool named; /* by somebody: it is not renamed by itself */
	unsigned cols, rows;
	struct pane *panes; /* in their order */
	struct pane *active, *last;
	unsigned turns; /* how often another pane became the active one */
	bool zoomed;
	int preset; /* the layout that was selected last, or -1 */
	struct cell *layout;
	int64_t activity;
	json_t *options; /* owned by the model */
	struct window *prev, *next;
};

/* A window in a session. */
struct link {
	int index;
	struct session *session;
	struct window *window;
	unsigned turn; /* when it was the current one last; 0: never */
	struct link *prev, *next;
};

struct session {
	unsigned id; /* $id */
	char *name, *cwd;
	struct link *links, *current;  /* by their indices */
	int64_t created, activity;     /* microseconds */
	json_t *options, *environment; /* owned by the model */
	struct session *prev, *next;
};

struct model {
	struct arena *arena;
	struct session *sessions; /* by their ids */
	struct window *windows;
	unsigned next_session, next_window, next_pane, next_buffer, next_turn;
	int64_t started; /* seconds; 0: nothing is there, as with a tmux that does not run */
	int pid;         /* of who started it */
	json_t *server_options, *session_options, *window_options; /* global ones; owned */
	json_t *environment;                                       /* global; owned */
	json_t *buffers;  /* array of {name, base64, created, automatic}, newest first; owned */
	json_t *channels; /* of wait-for; owned */
	json_t *begun; /* ids of sessions of the server that a call has begun and not told yet; owned */
	int marked;   /* pane, or -1 */
	json_t *list; /* the server's sessions; owned */
};

void model_init(struct model *m, struct arena *a);
void model_finish(struct model *m);

/* New ones, empty, in their lists. */
struct session *model_add_session(struct model *m, unsigned id, const char *name);
struct window *model_add_window(struct model *m, unsigned id, const char *name);
/* after: behind which; NULL: as the last. before: in front of that one instead. */
struct pane *model_add_pane(
	struct window *w, struct model *m, unsigned id, struct pane *after, bool before);
/* The index must be free. */
struct link *model_add_link(struct model *m, struct session *s, int index, struct window *w);

/* Out of their lists. The current window of the session becomes the one before it; the active pane likewise. */
void model_remove_link(struct model *m, struct link *l);
void model_remove_pane(struct pane *p);
void model_remove_window(struct model *m, struct window *w);
void model_remove_session(struct model *m, struct session *s);

struct session *model_session_by_id(const struct model *m, unsigned id);
struct session *model_session_by_name(const struct model *m, const char *name);
struct window *model_window_by_id(const struct model *m, unsigned id);
struct pane *model_pane_by_id(const struct model *m, unsigned id);
struct link *model_link_at(const struct session *s, int index);
struct link *model_link_of(const struct session *s, const struct window *w);
/* A link of a window in any session: the one used last. */
struct link *model_best_link(const struct model *m, const struct window *w);
/* The session that was used last; NULL: there is none. */
struct session *model_best_session(const struct model *m);
/* The sessions by their names; *ret_count of them. */
struct session **model_sessions_sorted(struct model *m, size_t *ret_count);

void model_select(struct model *m, struct link *l);
void model_activate(struct window *w, struct pane *p);
/* The window that was the current one before; NULL: none. */
struct link *model_last_link(const struct session *s);
unsigned model_count_links(const struct session *s);
unsigned model_count_panes(const struct window *w);
unsigned model_count_all_panes(const struct model *m);
