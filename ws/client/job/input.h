/* Our standard input, for a command that reads it. */
#pragma once

#include "ws/client/connect/cli.h"

#define INPUT_PIECE_MAX ((size_t)700 << 10) /* a request's body has to hold it in base64 */

/* Standard input, read to its end, into the field stdinBase64. Returns 0, or the status to end with. */
int input_read(struct cli *cli, json_t *body);

/*
 * The same, however much it is: what a request's body cannot hold is sent before, in pieces, and named by stdinFrom. The
 * server has been connected to.
 */
int input_upload(struct cli *cli, json_t *body);
