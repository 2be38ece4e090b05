/* What the files of sessions share. */
#pragma once

#include "shell/session/sessions.h"

#include <stddef.h>
#include <stdint.h>

static inline struct session *session_of_held(const struct held *h)
{
	return (struct session *)((uintptr_t)h - offsetof(struct session, pane.held));
}

/* What sessions do as something that is held. */
extern const struct held_kind session_kind;

/* And when their executors do. */
extern const struct executor_callbacks session_executor_callbacks;

/* A program and its arguments, ended by NULL: a copy, owned, or NULL when memory is short. */
char **session_argv_copy(const char *const *argv);
void session_argv_free(char **argv); /* NULL is fine */

/* It is in another state; what has become of its shell is known before. */
void session_move(struct session *s, enum session_life state);

/* Free a session that has no link (any more). */
void session_free(struct session *session);

/* Its commands: wire up what knows of them, in a new session; begin to follow them, once its history is open. */
void session_init_commands(struct session *s, struct sessions *table);
void session_open_commands(struct session *s);

/* It is over: who waits or watches is told. */
void session_close_commands(struct session *s);

/* Take a session out of everything, tell its viewers, and free it once its link is closed. */
void session_release(struct session *session);

/* The same, and its directory is removed. */
void sessions_remove(struct sessions *s, struct session *session);

/* Idle limits and times to live, and what could not be written down. */
void sessions_sweep(struct sessions *s);

/* Consume a turn's worth of what its holder has written, and let those who follow it have that. */
enum turn_next session_take_turn(struct held *h);

/* What its link says: see struct held_kind. */
void session_on_attached(struct held *h);
void session_on_failed(struct held *h, enum report_stage stage, int error);
void session_on_lost(struct held *h);
