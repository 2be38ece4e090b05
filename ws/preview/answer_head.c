/* Parses a status line and fields. */
#include "ws/preview/answer_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* Consume the next line of [*at, end) and terminate it with a NUL. Returns NULL if it contains a CR or a NUL. */
static char *next_line(char **at, char *end)
{
	char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));
	if (!newline)
		return NULL;
	*at = newline + 1;
	if (newline > line && newline[-1] == '\r')
		newline--;
	*newline = '\0';
	return strlen(line) == (size_t)(newline - line) && !strchr(line, '\r') ? line : NULL;
}

/* RFC 9112 4: "HTTP/1.1 200 reason"; the reason may be missing with its space. */
static int parse_status_line(char *line, struct answer_head *h)
{
	if (strncmp(line, "HTTP/1.", 7) != 0 || line[7] < '0' || line[7] > '9' || line[8] != ' ')
		return -EINVAL;
	h->minor = (unsigned)(line[7] - '0');
	const char *digits = line + 9;
	for (int i = 0; i < 3; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return -EINVAL;
		h->status = h->status * 10 + (digits[i] - '0');
	}
	if (h->status < 100 || (digits[3] && digits[3] != ' '))
		return -EINVAL;
	h->reason = digits[3] ? digits + 4 : digits + 3;
	return http_is_value(h->reason) ? 0 : -EINVAL;
}

/* A Content-Length: digits alone, and equal where there are several (RFC 9112 6.3). */
static int parse_length(struct answer_head *h, const char *value)
{
	uint64_t length = 0;
	if (!*value)
		return -EINVAL;
	for (; *value; value++) {
		if (*value < '0' || *value > '9' || length > (INT64_MAX - 9) / 10)
			return -EINVAL;
		length = length * 10 + (uint64_t)(*value - '0');
	}
	if (h->has_length && h->length != length)
		return -EINVAL;
	h->has_length = true;
	h->length = length;
	return 0;
}

/* Parse the fields that frame the body. */
static int parse_framing(struct answer_head *h)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < h->fields_count; i++) {
		const struct http_field *f = &h->fields[i];
		if (strcmp(f->name, "content-length") == 0)
			rc = parse_length(h, f->value);
		if (strcmp(f->name, "transfer-encoding") != 0)
			continue;
		/* Only one coding, once: the request (TE) did not permit others. */
		if (h->chunked || h->minor == 0 || strcasecmp(f->value, "chunked") != 0)
			return -EINVAL;
		h->chunked = true;
	}
	return rc < 0 || (h->chunked && h->has_length) ? -EINVAL : 0;
}

int answer_head_parse(char *text, size_t length, struct answer_head *h)
{
	char *at = text, *end = text + length;
	*h = (struct answer_head){0};
	char *line = next_line(&at, end);
	int rc = line ? parse_status_line(line, h) : -EINVAL;
	while (rc == 0) {
		line = next_line(&at, end);
		if (!line)
			return -EINVAL;
		if (!*line)
			return at == end ? parse_framing(h) : -EINVAL;
		if (h->fields_count == ANSWER_FIELDS_MAX)
			return -E2BIG;
		if (!http_field_parse(line, &h->fields[h->fields_count++]))
			return -EINVAL;
	}
	return rc;
}

enum answer_framing answer_head_framing(const struct answer_head *h, bool to_head)
{
	if (to_head || h->status < 200 || h->status == 204 || h->status == 304)
		return ANSWER_NONE;
	if (h->chunked)
		return ANSWER_CHUNKED;
	return h->has_length ? h->length > 0 ? ANSWER_LENGTH : ANSWER_NONE : ANSWER_CLOSE;
}
