/* Copies heads line by line. The line of the request is split at its spaces; all others are fields, of which some are left out. */
#include "ws/net/http_repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LENGTH_FIELD_SIZE 48u

/* Where the next bytes go. The memory is large enough. */
struct copy {
	char *text;
	size_t length;
};

static void add(struct copy *to, const char *bytes, size_t length)
{
	memcpy(to->text + to->length, bytes, length);
	to->length += length;
}

static bool is_framing(const char *line, size_t length)
{
	static const char *const names[] = {"content-length:", "transfer-encoding:", "expect:"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (length >= strlen(names[i]) && strncasecmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Copy the line of the request. Returns false if it has no three parts. */
static bool copy_request_line(
	struct copy *to, const char *line, size_t length, const struct http_repeat *change)
{
	const char *target = memchr(line, ' ', length);
	const char *version = target ? memchr(target + 1, ' ', length - (size_t)(target + 1 - line))
				     : NULL;
	if (!version)
		return false;
	if (change->method)
		add(to, change->method, strlen(change->method));
	else
		add(to, line, (size_t)(target - line));
	add(to, " ", 1);
	if (change->target)
		add(to, change->target, strlen(change->target));
	else
		add(to, target + 1, (size_t)(version - target - 1));
	add(to, version, (size_t)(line + length - version));
	return true;
}

/* Copy all lines. Returns false if the head is not valid. */
static bool copy_head(
	struct copy *to, const char *head, size_t length, const struct http_repeat *change)
{
	char field[LENGTH_FIELD_SIZE];
	for (size_t at = 0; at < length;) {
		const char *line = head + at;
		const char *newline = memchr(line, '\n', length - at);
		if (!newline)
			return false;
		size_t size = (size_t)(newline + 1 - line);
		bool is_last = size == 2 && line[0] == '\r';
		if (is_last && change->has_body) {
			int n = snprintf(field, sizeof field, "Content-Length: %zu\r\n",
				change->body_length);
			add(to, field, (size_t)n);
		}
		if (at == 0 && !copy_request_line(to, line, size, change))
			return false;
		if (at > 0 && !is_framing(line, size))
			add(to, line, size);
		at += size;
		if (is_last)
			return at == length;
	}
	return false;
}

char *http_repeat_head(
	const char *head, size_t length, const struct http_repeat *change, size_t *ret_length)
{
	size_t more = (change->method ? strlen(change->method) : 0) +
		(change->target ? strlen(change->target) : 0) + LENGTH_FIELD_SIZE + 1;
	struct copy to = {.text = malloc(length + more)};
	if (!to.text)
		return NULL;
	if (!copy_head(&to, head, length, change)) {
		free(to.text);
		return NULL;
	}
	*ret_length = to.length;
	return to.text;
}
