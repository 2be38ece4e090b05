#include "ws/fleet/target.h"

#include <stdlib.h>
#include <string.h>

#define ENCODED 3u /* bytes of one encoded byte */

/* Whether a byte stands for itself in a path, and in a name or a value of a query. */
static bool is_plain(char c, bool in_path)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("-._~:@", c)) || (in_path && c == '/');
}

/* Append text to at, encoded. Returns its end. */
static char *encode(char *at, const char *text, size_t length, bool in_path)
{
	static const char digits[] = "0123456789ABCDEF";
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		if (is_plain(text[i], in_path)) {
			*at++ = text[i];
		} else {
			*at++ = '%';
			*at++ = digits[c >> 4];
			*at++ = digits[c & 15];
		}
	}
	return at;
}

/* Append a parameter. first: of the query. Returns its end. */
static char *add_param(char *at, bool first, const char *name, size_t length, const char *value)
{
	*at++ = first ? '?' : '&';
	at = encode(at, name, length, false);
	if (!value)
		return at;
	*at++ = '=';
	return encode(at, value, strlen(value), false);
}

char *target_write(const struct target *t)
{
	size_t size = strlen(t->url) + strlen(t->path) * ENCODED + 1;
	for (size_t i = 0; i < t->params_count; i++)
		size += strlen(t->params[i]) * ENCODED + 1;
	size += t->node ? strlen(t->node) * ENCODED + sizeof "?node=" : 0;
	char *target = malloc(size);
	if (!target)
		return NULL;
	bool first = true;
	char *at = stpcpy(target, t->url);
	at = encode(at, t->path, strlen(t->path), true);
	for (size_t i = 0; i < t->params_count; i++) {
		const char *param = t->params[i];
		size_t length = strcspn(param, "=");
		if (length == 4 && memcmp(param, "node", 4) == 0)
			continue;
		at = add_param(at, first, param, length, param[length] ? param + length + 1 : NULL);
		first = false;
	}
	if (t->node)
		at = add_param(at, first, "node", 4, t->node);
	*at = '\0';
	return target;
}
