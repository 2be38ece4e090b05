/*
 * Input of a session: one queue for all clients, with checks of permission and size, and the input log. All input of
 * people and programs comes through here; what the server itself types does not.
 */
#pragma once

#include "shell/prompt.h"
#include "shell/session/session.h"

#include <termios.h>

/* What became of the input. */
struct typing_result {
	size_t written;  /* of these bytes, in the terminal's queue */
	size_t queued;   /* bytes that are queued now, earlier ones included */
	uint64_t offset; /* of the output, before the input */
};

/*
 * Type all or nothing. Returns 0, -EACCES (another client has an exclusive lease, or the given one has ended),
 * -EMSGSIZE (a line is longer than the kernel accepts in canonical mode), -ENOBUFS (the queue is full), or
 * -ERR_NOT_RUNNING (the session is not running).
 */
int session_type_as(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result);

/*
 * Handle an open paste before input of another client: end it, as the input would become part of it; when its client
 * continues, start it again. Called by session_type_as() too. Returns 0, or as that.
 */
int session_switch_paste(
	struct session *s, const struct typist *by, const void *bytes, size_t length);

/* A client is gone: end the paste that it has left open. */
void session_end_paste(struct session *s, uint64_t typist);

/* The typist does not go on with its paste: end it. */
void session_complete_paste(struct session *s, uint64_t typist);

/* The reader of the typist's paste has ended: the next piece gets a marker. */
void session_reopen_paste(struct session *s, uint64_t typist);

/* The session is adopted: restore whether an earlier server has left a paste open. */
void session_restore_paste(struct session *s);

/* The terminal's modes. Returns false if it has hung up. */
bool session_terminal_modes(const struct session *s, struct termios *ret_line);

/* Describe the hidden prompt at this time. */
void session_prompt(const struct session *s, struct prompt_id *ret_prompt);

/* Whether that prompt still waits: no output, no answer, the same foreground process group, and no echo. */
bool session_prompt_is_open(const struct session *s, const struct prompt_id *prompt);
