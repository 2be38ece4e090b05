/*
 * See http_head.h. Lines must end with CR LF. RFC 9112 2.2 allows LF alone, but a proxy that parses it as a part of a value
 * would see other requests than we do. A CR anywhere else is refused for the same reason.
 */
#include "ws/net/http_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* NUL-terminate the next line of [*at, end), and move *at after it. NULL if it lacks CR LF, or contains CR or NUL. */
static char *next_line(char **at, char *end)
{
	char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));
	if (!newline || newline == line || newline[-1] != '\r')
		return NULL;
	*at = newline + 1;
	char *last = newline - 1;
	*last = '\0';
	return strlen(line) == (size_t)(last - line) && !strchr(line, '\r') ? line : NULL;
}

/* Split "http://authority/path" into authority and target. */
static int split_absolute(char *target, struct http_head *h)
{
	size_t scheme = strncasecmp(target, "http://", 7) == 0 ? 7
		: strncasecmp(target, "https://", 8) == 0      ? 8
							       : 0;
	if (scheme == 0)
		return -EINVAL;
	char *authority = target + scheme;
	size_t length = strcspn(authority, "/?");
	if (length == 0 || memchr(authority, '@', length))
		return -EINVAL;
	/* Move the authority one byte to the front: then its NUL does not overwrite the path's slash. */
	memmove(authority - 1, authority, length);
	authority[length - 1] = '\0';
	h->authority = authority - 1;
	h->target = authority[length] ? authority + length : "/";
	if (h->target[0] == '?')
		return -EINVAL;
	return 0;
}

/* RFC 9112 3: three parts with single spaces between them. */
static int parse_request_line(char *line, struct http_head *h)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;
	if (!version)
		return -EINVAL;
	*target++ = '\0';
	*version++ = '\0';
	if (!http_is_token(line) || !*target)
		return -EINVAL;
	for (const char *p = target; *p; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return -EINVAL;
	if (strncmp(version, "HTTP/", 5) != 0)
		return -EINVAL;
	if (strlen(version) != 8 || version[5] != '1' || version[6] != '.' || version[7] < '0' ||
		version[7] > '9')
		return -EPROTONOSUPPORT;
	h->minor = (unsigned)(version[7] - '0');
	h->method = line;
	h->target = target;
	bool plain = target[0] == '/' || strcmp(target, "*") == 0 || strcmp(line, "CONNECT") == 0;
	return plain ? 0 : split_absolute(target, h);
}

int http_head_parse(char *text, size_t length, struct http_head *h)
{
	char *at = text, *end = text + length;
	*h = (struct http_head){0};
	char *line = next_line(&at, end);
	int rc = line ? parse_request_line(line, h) : -EINVAL;
	while (rc == 0) {
		line = next_line(&at, end);
		if (!line)
			return -EINVAL;
		if (!*line)
			return at == end ? 0 : -EINVAL;
		if (h->fields_count == HTTP_FIELDS_MAX)
			return -E2BIG;
		if (!http_field_parse(line, &h->fields[h->fields_count++]))
			return -EINVAL;
	}
	return rc;
}

const char *http_head_field(const struct http_head *h, const char *name)
{
	return http_fields_find(h->fields, h->fields_count, name);
}

size_t http_head_count(const struct http_head *h, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < h->fields_count; i++)
		count += strcmp(h->fields[i].name, name) == 0;
	return count;
}

bool http_head_lists(const struct http_head *h, const char *name, const char *token)
{
	return http_fields_have_token(h->fields, h->fields_count, name, token);
}

bool http_head_accepts_page(const struct http_head *h)
{
	const char *accept = http_head_field(h, "accept");
	return accept && strcasestr(accept, "text/html");
}

/* Whether bytes, which may be NULs, contain a text in any case. */
static bool contains(const char *bytes, size_t size, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i + length <= size; i++)
		if (strncasecmp(bytes + i, text, length) == 0)
			return true;
	return false;
}

bool http_text_accepts_page(const char *bytes, size_t length)
{
	static const char name[] = "accept:";
	const char *at = bytes, *end = bytes + length;
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		const char *line = ++at, *newline = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((newline ? newline : end) - line);
		size = size < HTTP_ACCEPT_LOOKED ? size : HTTP_ACCEPT_LOOKED;
		if (size >= sizeof name - 1 && strncasecmp(line, name, sizeof name - 1) == 0 &&
			contains(line, size, "text/html"))
			return true;
	}
	return false;
}

/* Count the codings of one field. Returns false when an element is empty. */
static bool count_codings(const char *value, unsigned *count, unsigned *chunked, bool *last)
{
	for (;;) {
		value += strspn(value, " \t");
		size_t length = strcspn(value, ",");
		const char *next = value + length;
		while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
			length--;
		if (length == 0)
			return false;
		*last = length == 7 && strncasecmp(value, "chunked", 7) == 0;
		*count += 1;
		*chunked += *last;
		if (!*next)
			return true;
		value = next + 1;
	}
}

enum http_coding http_head_coding(const struct http_head *h)
{
	unsigned count = 0, chunked = 0;
	bool last = false;
	for (size_t i = 0; i < h->fields_count; i++)
		if (strcmp(h->fields[i].name, "transfer-encoding") == 0 &&
			!count_codings(h->fields[i].value, &count, &chunked, &last))
			return HTTP_CODING_INVALID;
	if (count == 0)
		return HTTP_CODING_NONE;
	/* HTTP/1.0 has no Transfer-Encoding (RFC 9112 6.1). */
	if (!last || chunked > 1 || h->minor == 0)
		return HTTP_CODING_INVALID;
	return count == 1 ? HTTP_CODING_CHUNKED : HTTP_CODING_UNKNOWN;
}
