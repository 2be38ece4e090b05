#include "ws/client/connect/words.h"

#include "ws/base64.h"
#include "ws/client/connect/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_quoted(FILE *f, const char *word)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@%+,";
	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	}
	fputc('\'', f);
}

char *words_command(struct line *l)
{
	char *text = NULL;
	size_t length;
	const char *word = line_argument(l);
	if (!word) {
		line_usage(l, "which command?");
		return NULL;
	}
	FILE *f = open_memstream(&text, &length);
	bool single = optind >= l->argc;
	if (f && single)
		fputs(word, f);
	while (f && !single && word) {
		put_quoted(f, word);
		word = line_argument(l);
		if (word)
			fputc(' ', f);
	}
	if (!f || fclose(f) != 0) {
		free(text);
		line_fail(l, "%s", strerror(ENOMEM));
		return NULL;
	}
	json_t *check = json_string(text);
	if (!check) {
		line_usage(l, "the command is not UTF-8");
		free(text);
		return NULL;
	}
	json_decref(check);
	return text;
}

/* Read until there are `most` bytes, or it ends. Returns how many, or a negative errno. */
static ssize_t read_input(char *bytes, size_t most)
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

int words_input(struct line *l, json_t *body)
{
	char *bytes = malloc(WORDS_INPUT_MAX + 1);
	ssize_t n = bytes ? read_input(bytes, WORDS_INPUT_MAX + 1) : -ENOMEM;
	size_t length = n < 0 ? 0 : (size_t)n;
	int rc = 0;
	if (n < 0)
		rc = line_fail(l, "standard input: %s", strerror((int)-n));
	else if (length > WORDS_INPUT_MAX)
		rc = line_fail(l, "standard input: more than %zu KiB", WORDS_INPUT_MAX >> 10);
	else
		json_object_set_new(body, "stdinBase64", base64_json(bytes, length));
	free(bytes);
	return rc;
}

/* Send a piece; id is the input's, "" before the first. Returns 0, or the status to end with. */
static int send_piece(struct line *l, char id[64], uint64_t offset, const char *bytes, size_t length)
{
	struct answer a;
	json_t *body = json_pack(
		"{s:I, s:o}", "offset", (json_int_t)offset, "base64", base64_json(bytes, length));
	if (body && id[0])
		json_object_set_new(body, "id", json_string(id));
	int rc = call_api(l, "POST", strdup("/api/stdin"), body, &a);
	if (rc != 0)
		return rc;
	const char *made = json_string_value(json_object_get(a.json, "id"));
	snprintf(id, 64, "%s", made ? made : "");
	answer_finish(&a);
	return 0;
}

int words_stream(struct line *l, json_t *body)
{
	char id[64] = "", *bytes = malloc(WORDS_INPUT_MAX);
	uint64_t offset = 0;
	int rc = 0;
	ssize_t n = bytes ? read_input(bytes, WORDS_INPUT_MAX) : -ENOMEM;
	bool whole = n >= 0 && (size_t)n < WORDS_INPUT_MAX;
	if (whole)
		json_object_set_new(body, "stdinBase64", base64_json(bytes, (size_t)n));
	while (!whole && n > 0 && rc == 0) {
		rc = send_piece(l, id, offset, bytes, (size_t)n);
		offset += (uint64_t)n;
		n = rc == 0 ? read_input(bytes, WORDS_INPUT_MAX) : 0;
	}
	if (n < 0)
		rc = line_fail(l, "standard input: %s", strerror((int)-n));
	if (!whole && rc == 0)
		json_object_set_new(body, "stdinFrom", json_string(id));
	free(bytes);
	return rc;
}
