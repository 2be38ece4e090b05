/*
 * Standard input, for a command or to be typed: read to its end, and sent with the request where that can hold it,
 * otherwise before, in pieces. What cannot be read or sent is said on standard error, and nothing is run.
 */
#include "ws/client/job/input.h"

#include "ws/base64.h"
#include "ws/client/connect/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read until there are `most` bytes, or it ends. Returns how many, or a negative errno. */
static ssize_t read_stdin(char *bytes, size_t most)
{
	size_t length = 0;
	while (length < most) {
		ssize_t n = read(STDIN_FILENO, bytes + length, most - length);
		if (n == 0)
			break;
		if (n > 0)
			length += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)length;
}

int input_read(struct cli *cli, json_t *body)
{
	char *bytes = malloc(INPUT_PIECE_MAX + 1);
	ssize_t n = bytes ? read_stdin(bytes, INPUT_PIECE_MAX + 1) : -ENOMEM;
	size_t length = n < 0 ? 0 : (size_t)n;
	int rc = 0;
	if (n < 0)
		rc = cli_fail(cli, "standard input: %s", strerror((int)-n));
	else if (length > INPUT_PIECE_MAX)
		rc = cli_fail(cli, "standard input: more than %zu KiB", INPUT_PIECE_MAX >> 10);
	else
		json_object_set_new(body, "stdinBase64", base64_json(bytes, length));
	free(bytes);
	return rc;
}

/* Send a piece; id is the input's, "" before the first. Returns 0, or the status to end with. */
static int send_piece(
	struct cli *cli, char id[64], uint64_t offset, const char *bytes, size_t length)
{
	struct answer a;
	json_t *body = json_pack(
		"{s:I, s:o}", "offset", (json_int_t)offset, "base64", base64_json(bytes, length));
	if (body && id[0])
		json_object_set_new(body, "id", json_string(id));
	int rc = call_api(cli, "POST", strdup("/api/stdin"), body, &a);
	if (rc != 0)
		return rc;
	const char *made = json_string_value(json_object_get(a.json, "id"));
	snprintf(id, 64, "%s", made ? made : "");
	answer_finish(&a);
	return 0;
}

int input_upload(struct cli *cli, json_t *body)
{
	char id[64] = "", *bytes = malloc(INPUT_PIECE_MAX);
	uint64_t offset = 0;
	int rc = 0;
	ssize_t n = bytes ? read_stdin(bytes, INPUT_PIECE_MAX) : -ENOMEM;
	bool whole = n >= 0 && (size_t)n < INPUT_PIECE_MAX;
	if (whole)
		json_object_set_new(body, "stdinBase64", base64_json(bytes, (size_t)n));
	while (!whole && n > 0 && rc == 0) {
		rc = send_piece(cli, id, offset, bytes, (size_t)n);
		offset += (uint64_t)n;
		n = rc == 0 ? read_stdin(bytes, INPUT_PIECE_MAX) : 0;
	}
	if (n < 0)
		rc = cli_fail(cli, "standard input: %s", strerror((int)-n));
	if (!whole && rc == 0)
		json_object_set_new(body, "stdinFrom", json_string(id));
	free(bytes);
	return rc;
}
