/*
 * Messages of the Model Context Protocol whose answer was lost with the server: which may be sent again to the next one, and
 * what is answered in their place where they may not. Pure but for random numbers.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* The member of params._meta by which the next server knows that it may have been done already. */
#define AGAIN_META "ringside/again"

/*
 * Give a call of exec a key of its own, unless it has one, by which the next server finds the command: so its answer can be
 * asked for again. Returns whether the message was changed.
 */
bool again_prepare(json_t *message);

/* Whether it may be sent twice: it only reads, or has a key. */
bool again_is_safe(const json_t *message);

/* Mark a message that may have been received before. */
void again_mark(json_t *message);

/*
 * The answer of a request that has got none, as a result that failed where that is what a model reads. sent: it may have been
 * received, and so done. where: the server. New reference; NULL when memory is short.
 */
json_t *again_lost(const json_t *message, bool sent, const char *where);
