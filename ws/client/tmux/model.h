/*
 * The state of a tmux server: sessions with windows, windows with panes, and their options. It accesses neither
 * the server nor the disk; all of it is in one arena.
 */
#pragma once

#include "ws/client/tmux/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_PANES_MAX 512u /* panes of a tmux server */
#define MODEL_SIDE_MAX 1000u /* columns or rows of a window, as of a session of Ringside */

struct cell; /* of a layout: layout.h */

/* A pane. */
struct pane {
	unsigned id;          /* of %id */
	char *session;        /* id of the session of Ringside */
	char *title;          /* set by select-pane -T, or NULL */
	char *title_replaced; /* the program's title at that time: a later one replaces title */
	char *command, *cwd;  /* as started; command may be "" */
	json_t *argv, *env;   /* as started, for respawn-pane; argv may be NULL; owned */
	json_t *options;      /* object; owned */
	struct window *window;
	struct cell *cell;    /* in the window's layout */
	unsigned turn;        /* value of window.turns when it became active; 0: never */
	unsigned cols, rows;  /* of its terminal */
	bool dead, signalled; /* the program has exited, and the pane remains; killed by a signal */
	bool input_off;       /* select-pane -d: send-keys is ignored */
	int status;           /* exit status or signal; -1: unknown */
	int64_t died_at;      /* seconds since 1970 */
	uint64_t cleared;     /* rows with lower numbers were removed by clear-history */
	unsigned history;     /* history-limit at its start; 0: the default */
	int pipe;             /* pid of the process of pipe-pane; 0: none */
	uint64_t pipe_start_time; /* start time of that process, in ticks, because pids are reused */
	json_t *info;             /* element of model.list; borrowed; NULL: the session is gone */
	json_t *screen;           /* as fetched in this call; owned; NULL: not fetched */
	struct pane *prev, *next;
};

/* A window. */
struct window {
	unsigned id; /* of @id */
	char *name;
	bool named; /* by the user: it is not renamed automatically */
	unsigned cols, rows;
	struct pane *panes; /* in order */
	struct pane *active, *last;
	unsigned turns; /* how often another pane became active */
	bool zoomed;
	int preset; /* index of the named layout that was selected last, or -1 */
	struct cell *layout;
	int64_t activity; /* seconds since 1970 */
	json_t *options;  /* owned */
	struct window *prev, *next;
};

/* A window in a session. */
struct link {
	int index;
	struct session *session;
	struct window *window;
	unsigned turn; /* value of model.next_turn when it became the current one; 0: never */
	struct link *prev, *next;
};

/* A tmux session. */
struct session {
	unsigned id; /* of $id */
	char *name, *cwd;
	struct link *links, *current;  /* by index */
	int64_t created, activity;     /* microseconds since 1970 */
	json_t *options, *environment; /* owned */
	struct session *prev, *next;
};

/* All of a tmux server. */
struct model {
	struct arena *arena;
	struct session *sessions; /* by id */
	struct window *windows;
	unsigned next_session, next_window, next_pane, next_buffer, next_turn;
	int64_t started; /* seconds since 1970; 0: no tmux server is running */
	int pid;         /* of the process that started it */
	json_t *server_options, *session_options, *window_options; /* global ones; owned */
	json_t *environment;                                       /* global; owned */
	json_t *buffers;  /* array of {name, base64, created, automatic}, newest first; owned */
	json_t *channels; /* of wait-for; owned */
	json_t *begun; /* ids of sessions that a call creates, until its panes are written; owned */
	int marked;    /* id of a pane, or -1 */
	json_t *list;  /* the server's sessions; owned */
};

/* Initialize an empty model. */
void model_init(struct model *m, struct arena *a);
/* Free all that is not in the arena. */
void model_finish(struct model *m);

/* Add a session without windows. */
struct session *model_add_session(struct model *m, unsigned id, const char *name);
/* Add a window without panes. */
struct window *model_add_window(struct model *m, unsigned id, const char *name);
/* Add a pane behind after, or in front of it with before. after NULL: as the last one. */
struct pane *model_add_pane(
	struct window *w, struct model *m, unsigned id, struct pane *after, bool before);
/* Add a window to a session. The index must be free. */
struct link *model_add_link(struct model *m, struct session *s, int index, struct window *w);

/* Remove a link. If it was the current one, the previously current one, or else the one before it, becomes that. */
void model_remove_link(struct model *m, struct link *l);
/* Remove a pane. If it was the active one, the previous one becomes that. */
void model_remove_pane(struct pane *p);
/* Remove a window, which is in no session. */
void model_remove_window(struct model *m, struct window *w);
/* Remove a session, which has no windows. */
void model_remove_session(struct model *m, struct session *s);

/* Returns NULL if there is none. */
struct session *model_session_by_id(const struct model *m, unsigned id);
/* Returns NULL if there is none. */
struct session *model_session_by_name(const struct model *m, const char *name);
/* Returns NULL if there is none. */
struct window *model_window_by_id(const struct model *m, unsigned id);
/* Returns NULL if there is none. */
struct pane *model_pane_by_id(const struct model *m, unsigned id);
/* The window at an index of a session, or NULL. */
struct link *model_link_at(const struct session *s, int index);
/* The link of a window in a session, preferably the current one; or NULL. */
struct link *model_link_of(const struct session *s, const struct window *w);
/* The link of a window in the session that was used last, or NULL. */
struct link *model_last_used_link(const struct model *m, const struct window *w);
/* The session that was used last, or NULL. */
struct session *model_last_used_session(const struct model *m);
/* The sessions by name. */
struct session **model_sessions_sorted(struct model *m, size_t *ret_count);

/* Make a window the current one of its session. */
void model_select(struct model *m, struct link *l);
/* Make a pane the active one of its window. */
void model_activate(struct window *w, struct pane *p);
/* The previous current window of a session, or NULL. */
struct link *model_last_link(const struct session *s);
/* The number of windows of a session. */
unsigned model_count_links(const struct session *s);
/* The number of links of a window: it may be in several sessions, and several times in one. */
unsigned model_count_links_to(const struct model *m, const struct window *w);
/* The number of panes of a window. */
unsigned model_count_panes(const struct window *w);
/* The number of all panes. */
unsigned model_count_all_panes(const struct model *m);
