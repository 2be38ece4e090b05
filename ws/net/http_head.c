/*
 * See http_head.h. Lines end with CR LF. RFC 9112 2.2 would let LF alone end one, but a proxy in front of us that takes it
 * for a part of a value sees other requests than we do; a CR anywhere else is refused for the same reason.
 */
#include "ws/net/http_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

size_t http_head_length(const char *bytes, size_t length)
{
	const char *at = bytes, *end = bytes + length;
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		if (end - at >= 1 && at[0] == '\n')
			return (size_t)(at - bytes) + 1;
		if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
			return (size_t)(at - bytes) + 2;
	}
	return 0;
}

/* RFC 9110 5.6.2 */
static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text)
{
	const char *at = text;
	while (is_token_char(*at))
		at++;
	return at > text && !*at;
}

/* Take the next line off [*at, end) and end it with a NUL. Returns NULL when it has no CR, or one or a NUL within. */
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

/* "http://authority/path": what is left is the target, "/path", moved to begin where it may. */
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
	/* The authority moves one byte to the front, and its NUL to where the path's slash is not. */
	memmove(authority - 1, authority, length);
	authority[length - 1] = '\0';
	h->authority = authority - 1;
	h->target = authority[length] ? authority + length : "/";
	if (h->target[0] == '?')
		return -EINVAL;
	return 0;
}

/* RFC 9112 3: three parts, and single spaces between them. */
static int parse_request_line(char *line, struct http_head *h)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;
	if (!version)
		return -EINVAL;
	*target++ = '\0';
	*version++ = '\0';
	if (!is_token(line) || !*target)
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

/* RFC 9110 5.5: visible characters, spaces, tabs, and what is above ASCII. */
static bool is_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	return true;
}

static int parse_field(char *line, struct http_head *h)
{
	char *colon = strchr(line, ':');
	if (!colon)
		return -EINVAL;
	*colon = '\0';
	char *value = colon + 1 + strspn(colon + 1, " \t");
	if (!is_token(line) || !is_value(value))
		return -EINVAL;
	for (char *p = line; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 32);
	size_t length = strlen(value);
	while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		value[--length] = '\0';
	if (h->fields_count == HTTP_FIELDS_MAX)
		return -E2BIG;
	h->fields[h->fields_count++] = (struct http_field){line, value};
	return 0;
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
		rc = parse_field(line, h);
	}
	return rc;
}

const char *http_head_field(const struct http_head *h, const char *name)
{
	for (size_t i = 0; i < h->fields_count; i++)
		if (strcmp(h->fields[i].name, name) == 0)
			return h->fields[i].value;
	return NULL;
}

size_t http_head_count(const struct http_head *h, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < h->fields_count; i++)
		count += strcmp(h->fields[i].name, name) == 0;
	return count;
}

static bool lists(const char *value, const char *token)
{
	size_t length = strlen(token);
	while (*value) {
		value += strspn(value, " \t,");
		size_t size = strcspn(value, ",");
		size_t trimmed = size;
		while (trimmed > 0 && (value[trimmed - 1] == ' ' || value[trimmed - 1] == '\t'))
			trimmed--;
		if (trimmed == length && strncasecmp(value, token, length) == 0)
			return true;
		value += size;
	}
	return false;
}

bool http_head_lists(const struct http_head *h, const char *name, const char *token)
{
	for (size_t i = 0; i < h->fields_count; i++)
		if (strcmp(h->fields[i].name, name) == 0 && lists(h->fields[i].value, token))
			return true;
	return false;
}
