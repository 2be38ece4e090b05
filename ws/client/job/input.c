/*
 * Input in the request is sent again with it if the server was lost. Streamed input cannot be
 * repeated: if the server is lost, the rest is lost too, and that is reported.
 */
#include "ws/client/job/input.h"

#include "ws/base64.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

ssize_t input_gather(char *bytes, size_t most, bool *ret_whole)
{
	size_t length = 0;
	int64_t until = now_ms() + INPUT_GATHER_MS, left;
	*ret_whole = false;
	while (length < most && (left = until - now_ms()) > 0) {
		struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
		int ready = poll(&in, 1, (int)left);
		if (ready == 0 || (ready < 0 && errno == EINTR))
			continue;
		ssize_t n = read(STDIN_FILENO, bytes + length, most - length);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n == 0) {
			*ret_whole = true;
			break;
		}
		length += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)length;
}

/* Create an input on the server and stream to it, beginning with length bytes of first. */
static int begin_stream(struct input *i, json_t *body, size_t length)
{
	struct answer a;
	char *path = NULL;
	int rc = call_api(i->cli, "POST", strdup("/api/stdin"), json_object(), &a);
	if (rc != 0)
		return rc;
	const char *id = answer_text(a.json, "id");
	json_object_set_new(body, "stdinFrom", json_string(id));
	if (asprintf(&path, "/api/stdin/%s", id) < 0)
		path = NULL;
	answer_finish(&a);
	i->stream = calloc(1, sizeof *i->stream);
	if (!i->stream) {
		free(path);
		return cli_fail(i->cli, "%s", strerror(ENOMEM));
	}
	*i->stream = (struct body_stream){.cli = i->cli,
		.fd = STDIN_FILENO,
		.first = i->first,
		.first_length = length,
		.answer = &i->answer};
	body_stream_open(i->stream, path);
	return 0;
}

int input_open(struct input *i, struct cli *cli, json_t *body)
{
	bool whole;
	i->cli = cli;
	i->first = malloc(INPUT_PIECE_MAX);
	ssize_t n = i->first ? input_gather(i->first, INPUT_PIECE_MAX, &whole) : -ENOMEM;
	if (n < 0)
		return cli_fail(cli, "standard input: %s", strerror((int)-n));
	if (!whole)
		return begin_stream(i, body, (size_t)n);
	json_object_set_new(body, "stdinBase64", base64_json(i->first, (size_t)n));
	return 0;
}

bool input_is_over(const struct input *i)
{
	return !i->stream || i->stream->over;
}

bool input_is_cut(const struct input *i, bool server_lost)
{
	const struct body_stream *s = i->stream;
	if (!s || !s->over)
		return false;
	/* Over TLS an answer before the end of the input is not received: see ws/net/client.c. */
	if (s->error < 0)
		return server_lost || !i->cli->target.tls;
	return s->read_error < 0 || i->answer.status != 200;
}

int input_report_cut(const struct input *i)
{
	const struct body_stream *s = i->stream;
	if (s->read_error < 0)
		return cli_fail(i->cli,
			"standard input: %s; the command has received the input before that",
			strerror(-s->read_error));
	return cli_fail(
		i->cli, "the server was lost: the command has received only a part of its input");
}

void input_close(struct input *i)
{
	if (i->stream)
		body_stream_close(i->stream);
	free(i->stream);
	free(i->first);
	answer_finish(&i->answer);
	*i = (struct input){0};
}
