#include "ws/client/words.h"

#include "ws/base64.h"

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

int words_input(struct line *l, json_t *body)
{
	char *bytes = malloc(WORDS_INPUT_MAX + 1);
	size_t length = 0;
	ssize_t n = bytes ? 1 : -1;
	while (n > 0 && length <= WORDS_INPUT_MAX) {
		n = read(STDIN_FILENO, bytes + length, WORDS_INPUT_MAX + 1 - length);
		if (n > 0)
			length += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	int rc = 0;
	if (n < 0)
		rc = line_fail(l, "standard input: %s", strerror(errno));
	else if (length > WORDS_INPUT_MAX)
		rc = line_fail(l, "standard input: more than %zu KiB", WORDS_INPUT_MAX >> 10);
	else
		json_object_set_new(body, "stdinBase64", base64_json(bytes, length));
	free(bytes);
	return rc;
}
