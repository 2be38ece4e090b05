/*
 * Sends our standard input to a command. Short input that ends at once goes with the request; other
 * input is streamed as fast as the command reads it (PUT /api/stdin/ID).
 */
#pragma once

#include "ws/client/connect/body_stream.h"

#define INPUT_PIECE_MAX ((size_t)700 << 10) /* it fits into a request in base64 */
#define INPUT_GATHER_MS 100                 /* input that lasts longer is streamed */

/* The input of one command. Zeroed: none. */
struct input {
	struct cli *cli;
	char *first; /* bytes read before streaming began; owned */
	struct answer answer;
	struct body_stream *stream; /* NULL: not streamed; owned */
};

/*
 * Read standard input until it ends, most bytes have been read, or INPUT_GATHER_MS have passed.
 * Returns the number of bytes or a negative errno. *ret_whole: the input has ended.
 */
ssize_t input_gather(char *bytes, size_t most, bool *ret_whole);

/*
 * Read standard input, and add it or its id to the request's body. Call it after connection_open(),
 * and input_close() in any case. Returns 0 or the exit status.
 */
int input_open(struct input *i, struct cli *cli, json_t *body);

/* Whether all input has been sent, or no more is wanted. */
bool input_is_over(const struct input *i);

/*
 * Whether a part of the input was lost, so that the command has read a false end. server_lost: the
 * server has been away meanwhile.
 */
bool input_is_cut(const struct input *i, bool server_lost);

/* Report that. Returns the exit status. */
int input_report_cut(const struct input *i);

/* Stop sending: the command reads the end of its input. */
void input_close(struct input *i);
