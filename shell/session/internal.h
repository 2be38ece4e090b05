/* What the files of the table share: sessions.c, follow.c, adopt.c. */
#pragma once

#include "shell/session/sessions.h"

#include <stddef.h>
#include <stdint.h>

static inline struct session *session_of_held(const struct held *h)
{
	return (struct session *)((uintptr_t)h - offsetof(struct session, pane.held));
}

/* What sessions do when their holders speak. */
extern const struct link_callbacks session_link_callbacks;

/* And when their executors do. */
extern const struct executor_callbacks session_executor_callbacks;

/* It is in another state; what has become of its shell is known before. */
void session_move(struct session *s, enum session_life state);

/* Free a session that has no link (any more). */
void session_free(struct session *session);

/* Its commands: wire up what knows of them, in a new session; begin to follow them, once its history is open. */
void session_init_commands(struct session *s, struct sessions *table);
void session_open_commands(struct session *s);

/* It is over: who waits or watches is told. */
void session_close_commands(struct session *s);

/* Tell all who wait in the list, and empty it. */
void session_answer(
	struct session_waiter **list, struct session *session, enum report_stage stage, int error);

/* Take a session out of everything, tell its viewers, and free it once its link is closed. */
void session_release(struct sessions *s, struct session *session, bool deleted);

/* Remove a session's directory with what we and its holder keep there. */
void session_remove_directory(struct sessions *s, const char *name);

/* It is being ended: begin with it. starting: its holder has yet to be attached to before it can be asked. */
void session_begin_end(struct session *session, bool starting);

/* Its holder is not there any more: who of its processes still lives is ended, and its directory removed. */
void session_end_orphans(struct session *session);

/* Its holder has answered to being asked to end. */
void session_on_ended(struct session *session, int error);

/* Its holder does not answer: what waits for it is told so. */
void session_call_unresponsive(struct session *session);

/* Look again at those that were found and have not answered yet. */
void sessions_look_again(struct sessions *s);

/* Consume a turn's worth of what its holder has written, and let those who follow it have that. */
enum turn_next session_take_turn(struct turn *turn);
