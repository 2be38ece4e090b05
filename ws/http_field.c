/* See http_field.h. */
#include "ws/http_field.h"

#include <string.h>
#include <strings.h>

size_t http_fields_head_length(const char *bytes, size_t length)
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

bool http_is_token(const char *text)
{
	const char *at = text;
	while (is_token_char(*at))
		at++;
	return at > text && !*at;
}

bool http_is_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	return true;
}

bool http_field_parse(char *line, struct http_field *ret_field)
{
	char *colon = strchr(line, ':');
	if (!colon)
		return false;
	*colon = '\0';
	char *value = colon + 1 + strspn(colon + 1, " \t");
	if (!http_is_token(line) || !http_is_value(value))
		return false;
	for (char *p = line; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 32);
	size_t length = strlen(value);
	while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		value[--length] = '\0';
	*ret_field = (struct http_field){line, value};
	return true;
}

const char *http_fields_find(const struct http_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value;
	return NULL;
}

bool http_value_has_token(const char *value, const char *token)
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

bool http_fields_have_token(
	const struct http_field *fields, size_t count, const char *name, const char *token)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0 && http_value_has_token(fields[i].value, token))
			return true;
	return false;
}
