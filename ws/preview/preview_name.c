/* A label is split at its first and its last hyphen. */
#include "ws/preview/preview_name.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

bool preview_name_port(const char *text, const char *ends, unsigned *ret_port, size_t *ret_length)
{
	unsigned port = 0;
	size_t i = 0;
	for (; i < 5 && is_digit(text[i]); i++)
		port = port * 10 + (unsigned)(text[i] - '0');
	if (i == 0 || text[0] == '0' || (text[i] && !strchr(ends, text[i])))
		return false;
	*ret_port = port;
	*ret_length = i;
	return port >= PREVIEW_PORT_MIN && port <= PREVIEW_PORT_MAX;
}

/* Length of a host without its port; 0 if the port is invalid. */
static size_t name_length(const char *host)
{
	size_t length = strcspn(host, ":");
	for (const char *p = host + length; *p && p[1]; p++)
		if (!is_digit(p[1]))
			return 0;
	return length;
}

/* Copy in lower case. Returns false if it is empty, does not fit, or has a character other than [a-z0-9] and `more`. */
static bool copy(char *to, size_t size, const char *from, size_t length, const char *more)
{
	if (length == 0 || length >= size)
		return false;
	for (size_t i = 0; i < length; i++) {
		to[i] = lower(from[i]);
		if (!is_word(to[i]) && !strchr(more, to[i]))
			return false;
	}
	to[length] = '\0';
	return true;
}

bool preview_name_parse(const char *host, const char *domain, struct preview_name *ret_name)
{
	struct preview_name name = {0};
	char label[PREVIEW_LABEL_SIZE];
	size_t length = name_length(host), tail = strlen(domain), digits;
	if (tail == 0 || length <= tail + 1 || host[length - tail - 1] != '.' ||
		strncasecmp(host + length - tail, domain, tail) != 0)
		return false;
	if (!copy(label, sizeof label, host, length - tail - 1, "-_") ||
		!preview_name_port(label, "-", &name.port, &digits) || label[digits] != '-')
		return false;
	const char *id = label + digits + 1, *last = strrchr(id, '-');
	if (!last || !copy(name.id, sizeof name.id, id, (size_t)(last - id), "-_") ||
		!copy(name.token, sizeof name.token, last + 1, strlen(last + 1), "_"))
		return false;
	*ret_name = name;
	return true;
}

void preview_name_format(const struct preview_name *name, char ret_label[PREVIEW_LABEL_SIZE])
{
	snprintf(ret_label, PREVIEW_LABEL_SIZE, "%u-%s-%s", name->port, name->id, name->token);
}

void preview_name_id(const char *session, char ret_id[PREVIEW_ID_MAX + 1])
{
	size_t length = 0;
	for (; *session && length < PREVIEW_ID_MAX; session++) {
		char c = lower(*session);
		ret_id[length++] = is_word(c) ? c : '-';
	}
	while (length > 0 && ret_id[length - 1] == '-')
		length--;
	ret_id[length] = '\0';
	if (length == 0)
		snprintf(ret_id, PREVIEW_ID_MAX + 1, "s");
}

bool preview_name_is_token(const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length; i++)
		if (!is_word(text[i]) && text[i] != '_')
			return false;
	return length >= PREVIEW_TOKEN_MIN && length <= PREVIEW_TOKEN_MAX;
}

/* Whether text is labels of letters, digits and hyphens with single dots between them, and not an IP address. */
static bool is_domain(const char *text)
{
	bool letter = false;
	for (const char *p = text; *p; p++) {
		if (*p == '.' && (p == text || p[1] == '.' || !p[1]))
			return false;
		if (*p != '.' && *p != '-' && !is_word(*p))
			return false;
		letter |= *p >= 'a' && *p <= 'z';
	}
	return letter;
}

bool preview_place_parse(const char *text, struct preview_place *ret_place)
{
	struct preview_place place = {0};
	unsigned port = 0;
	const char *rest = strstr(text, "://");
	if (rest) {
		size_t length = (size_t)(rest - text);
		if (!copy(place.scheme, sizeof place.scheme, text, length, "") ||
			(strcmp(place.scheme, "http") != 0 && strcmp(place.scheme, "https") != 0))
			return false;
		text = rest + 3;
	}
	size_t length = strcspn(text, ":");
	if (!copy(place.domain, sizeof place.domain, text, length, ".-") || !is_domain(place.domain))
		return false;
	for (const char *p = text + length; *p && p[1]; p++) {
		if (!is_digit(p[1]) || port > PREVIEW_PORT_MAX)
			return false;
		port = port * 10 + (unsigned)(p[1] - '0');
	}
	if (text[length] == ':' && (port == 0 || port > PREVIEW_PORT_MAX))
		return false;
	place.port = port;
	*ret_place = place;
	return true;
}
