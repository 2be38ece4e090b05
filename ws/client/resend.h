/*
 * Requests of the Model Context Protocol that a lost server has not answered: which of them can be
 * sent again to the next server, and the error for the rest. Pure, except for random numbers.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/*
 * The member of params._meta that tells the next server that the call may have been executed
 * already.
 */
#define RESEND_META "ringside/again"

/*
 * Add a random key to a call of exec that has none, by which the next server finds the command.
 * Returns whether the message was changed.
 */
bool resend_prepare(json_t *message);

/* Whether a message may be sent twice: it only reads, or has a key. */
bool resend_is_safe(const json_t *message);

/* Add RESEND_META to a call of a tool that an earlier server may have received. */
void resend_mark(json_t *message);

/*
 * The error answer of a request that was lost: a failed result for a call of a tool, because models
 * read those, otherwise a JSON-RPC error. sent: the server may have received it. where: the server.
 * New reference; NULL: out of memory.
 */
json_t *resend_failure(const json_t *message, bool sent, const char *where);
