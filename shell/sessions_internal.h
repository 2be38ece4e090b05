/* What the files of the table share: sessions.c, follow.c, adopt.c. */
#pragma once

#include "shell/sessions.h"

/* What sessions do when their holders speak. */
extern const struct link_callbacks session_link_callbacks;

/* Free a session that has no link (any more). */
void session_free(struct session *session);

/* Tell all who wait in the list, and empty it. */
void session_answer(
	struct session_waiter **list, struct session *session, enum report_stage stage, int error);

/* Take a session out of everything, tell its viewers, and free it once its link is closed. */
void session_release(struct sessions *s, struct session *session, bool deleted);

/* Remove a session's directory with what we and its holder keep there. */
void session_remove_directory(struct sessions *s, const char *name);

/* Before the loop sleeps: one turn for each session that has more to be consumed. */
void session_turns(uv_prepare_t *prepare);
