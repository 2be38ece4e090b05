/*
 * http(s)://HOST[:PORT]/[?s=ID]#link=TOKEN, as the page uses it. The token stands behind the #,
 * because browsers do not send that part to servers. Other fields are ignored.
 */
#include "ws/client/connect/link.h"

#include "ring/hex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Percent-decode a field. Returns its length; 0 if it does not fit or has other than printable
 * ASCII.
 */
static size_t decode(const char *text, size_t length, char *ret, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		int c = (unsigned char)text[i];
		if (c == '%') {
			bool whole = i + 2 < length;
			int high = whole ? hex_value(text[i + 1]) : -1;
			int low = whole ? hex_value(text[i + 2]) : -1;
			c = high < 0 || low < 0 ? 0 : high * 16 + low;
			i += 2;
		}
		if (c <= 0x20 || c >= 0x7f || n + 1 >= size)
			return 0;
		ret[n++] = (char)c;
	}
	ret[n] = '\0';
	return n;
}

/* Returns the value of a field of "NAME=VALUE&NAME=VALUE", or NULL. */
static const char *find_field(const char *text, size_t length, const char *name, size_t *ret_length)
{
	size_t n = strlen(name);
	for (const char *p = text, *end = text + length; p < end;) {
		const char *stop = memchr(p, '&', (size_t)(end - p));
		size_t field = (size_t)((stop ? stop : end) - p);
		if (field > n && strncmp(p, name, n) == 0 && p[n] == '=') {
			*ret_length = field - n - 1;
			return p + n + 1;
		}
		p += field + 1;
	}
	return NULL;
}

bool link_is_url(const char *word)
{
	return strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0;
}

int link_parse(const char *text, struct link *ret_link)
{
	size_t base = strcspn(text, "?#"), before = strcspn(text, "#"), length;
	const char *hash = text + before, *query = text + base + (base < before);
	*ret_link = (struct link){.owner = false};
	if (!link_is_url(text) || base > LINK_BASE_MAX || !*hash)
		return -EINVAL;
	memcpy(ret_link->base, text, base);
	const char *session = find_field(query, (size_t)(hash - query), "s", &length);
	if (session && decode(session, length, ret_link->session, sizeof ret_link->session) == 0)
		return -EINVAL;
	hash++;
	const char *token = find_field(hash, strlen(hash), "link", &length);
	ret_link->owner = !token;
	if (!token)
		token = find_field(hash, strlen(hash), "token", &length);
	if (!token || decode(token, length, ret_link->token, sizeof ret_link->token) == 0)
		return -EINVAL;
	return 0;
}
