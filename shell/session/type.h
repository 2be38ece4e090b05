/*
 * Typing into a session: one queue for all who do, who may, what fits, and who it was. Everything that people and
 * programs type comes through here; what the server itself says to the shell does not.
 */
#pragma once

#include "shell/session/session.h"

#include <termios.h>

struct typing_result {
	size_t written; /* of these bytes: the terminal has them */
	size_t queued; /* bytes that wait now for a program to read, those of others before them included */
	uint64_t offset; /* of the output, before they were typed */
};

/*
 * Type, all or nothing. Returns 0; -EACCES (another has an exclusive lease, or the lease that is shown is over),
 * -EMSGSIZE (a line is longer than the kernel takes in canonical mode), -ENOBUFS (the queue is full), or -ENOTCONN
 * (the session does not run).
 */
int session_type_as(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result);

/*
 * Before somebody types these bytes: a paste that somebody else has begun and not ended is ended, for otherwise they would be
 * part of it; the bytes of who goes on with such a paste are made one again. Returns 0 or as session_type_as(), which does so
 * as well.
 */
int session_turn_paste(struct session *s, const struct typist *by, const void *bytes, size_t length);

/* A client has gone, and perhaps left a paste without its end. */
void session_end_paste(struct session *s, uint64_t hand);

/* How the terminal takes input now. Returns false when it has hung up. */
bool session_line(const struct session *s, struct termios *ret_line);

/*
 * What waits for input that the terminal does not show; whether it still does: nothing was printed, the same program is in
 * front, and nobody has typed the end of a line or stopped it.
 */
void session_prompt(const struct session *s, struct session_prompt *ret_prompt);
bool session_asks(const struct session *s, const struct session_prompt *prompt);
