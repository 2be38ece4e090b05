/* Shared by the files of this folder. */
#pragma once

#include "shell/session/sessions.h"

#include <stddef.h>
#include <stdint.h>

static inline struct session *session_of_held(const struct held *h)
{
	return (struct session *)((uintptr_t)h - offsetof(struct session, pane.held));
}

/* The callbacks of sessions as held objects. */
extern const struct held_kind session_kind;

/* The callbacks of their executors. */
extern const struct executor_callbacks session_executor_callbacks;

/* Change the state. exit_status, end and exited_ms must be set before. */
void session_move(struct session *s, enum session_life state);

/* Report a change of the colour scheme to the program (mode 2031): 1 dark, 2 light. */
void session_report_color_scheme(struct session *s, int scheme);

/* Free a session without an open link. */
void session_free(struct session *session);

/* Connect the parts of a new session. */
void session_init_commands(struct session *s, struct sessions *table);

/* Start to follow commands, once the history is open. */
void session_open_commands(struct session *s);

/* Close the parts, and tell their waiters and watchers. */
void session_close_commands(struct session *s);

/* Take a session out of its table, tell its viewers, and free it once its link is closed. */
void session_release(struct session *session);

/* Release a session and remove its directory. */
void sessions_remove(struct sessions *s, struct session *session);

/* Periodic work: idle timeouts, times to live, leases, and writes that failed before. */
void sessions_sweep(struct sessions *s);

/* Consume a turn's worth of the holder's output, and notify viewers. */
enum turn_next session_take_turn(struct held *h);

/* The holder is attached: see struct held_kind, as for the next two. */
void session_on_attached(struct held *h);

/* The start or attaching has failed. */
void session_on_failed(struct held *h, enum report_stage stage, int error);

/* The holder is gone. */
void session_on_lost(struct held *h);
