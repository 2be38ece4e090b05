/*
 * Our standard input, for a command that reads it: with its request where it ends at once and is not much, otherwise sent as it
 * comes while the command runs, as fast as that reads.
 */
#pragma once

#include "ws/client/connect/body_stream.h"

#define INPUT_PIECE_MAX ((size_t)700 << 10) /* a request's body has to hold it in base64 */
#define INPUT_GATHER_MS 100                 /* to see whether it ends at once */

struct input {
	struct cli *cli;
	char *first; /* what has been read already, of a streamed one; owned */
	struct answer answer;
	struct body_stream *stream; /* NULL: it went with the request, or there is none; owned */
};

/*
 * Read standard input until it ends, most bytes are there, or INPUT_GATHER_MS have passed, into bytes. Returns how many, or a
 * negative errno. *ret_whole: it has ended.
 */
ssize_t input_gather(char *bytes, size_t most, bool *ret_whole);

/*
 * Begin with standard input, and name it in the request's body. The server has been connected to. Returns 0, or the status to
 * end with. input_close() has to follow.
 */
int input_open(struct input *i, struct cli *cli, json_t *body);

/* Whether the server has what there was, or nobody wants more. */
bool input_is_over(const struct input *i);

/*
 * Whether a part of it has been lost on the way: the command has got an end that is none. server_lost: the server has been away
 * meanwhile.
 */
bool input_is_cut(const struct input *i, bool server_lost);

/* Complain of that; returns the status to end with. */
int input_complain(const struct input *i);

/* Send no more: for the command it ends here. */
void input_close(struct input *i);
