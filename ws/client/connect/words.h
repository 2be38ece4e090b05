/* What is left of a command line, as a command for bash; and standard input, for a command. */
#pragma once

#include "ws/client/connect/line.h"

#define WORDS_INPUT_MAX ((size_t)700 << 10) /* a request's body has to hold it in base64 */

/*
 * The arguments that are left: a single one is bash as it is, several are words, each quoted where it has to
 * be. Returns the text, owned by the caller; NULL when there is none, after having complained.
 */
char *words_command(struct line *l);

/* Standard input, read to its end, into the field stdinBase64. Returns 0, or the status to end with. */
int words_input(struct line *l, json_t *body);

/*
 * The same, however much it is: what a request's body cannot hold is sent before, in pieces, and named by stdinFrom. The
 * server has been connected to.
 */
int words_stream(struct line *l, json_t *body);
