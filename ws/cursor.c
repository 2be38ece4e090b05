/* base64url of "v1.STORE.OFFSET". There is one text for each place: any other is none. */
#include "ws/cursor.h"

#include "ws/base64.h"
#include "ws/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_SIZE (NAME_ID_MAX + 32u)

_Static_assert(CURSOR_SIZE >= BASE64_SIZE(PLAIN_SIZE), "a cursor has room for any");

void cursor_format(const char *store, uint64_t offset, char ret_text[CURSOR_SIZE])
{
	char plain[PLAIN_SIZE];
	int n = snprintf(plain, sizeof plain, "v1.%s.%" PRIu64, store, offset);
	size_t length = base64_encode(
		plain, n < (int)sizeof plain ? (size_t)n : sizeof plain - 1, ret_text);
	while (length > 0 && ret_text[length - 1] == '=')
		ret_text[--length] = '\0';
	for (char *c = ret_text; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
}

/* What it was made of, owned by the caller, with a NUL; NULL when it is none. */
static char *decode(const char *text)
{
	char padded[CURSOR_SIZE + 4];
	size_t length = strlen(text), bytes;
	if (length == 0 || length >= CURSOR_SIZE)
		return NULL;
	for (size_t i = 0; i < length; i++)
		padded[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	while (length % 4 != 0)
		padded[length++] = '=';
	padded[length] = '\0';
	unsigned char *decoded = base64_decode(padded, &bytes);
	char *plain = decoded ? realloc(decoded, bytes + 1) : NULL;
	if (plain)
		plain[bytes] = '\0';
	else
		free(decoded);
	return plain;
}

bool cursor_parse(const char *text, const char *store, uint64_t *ret_offset)
{
	char again[CURSOR_SIZE];
	char *plain = decode(text);
	const char *number = plain ? strrchr(plain, '.') : NULL;
	uint64_t offset;
	bool good = number && params_number(number + 1, INT64_MAX, &offset);
	free(plain);
	if (!good)
		return false;
	cursor_format(store, offset, again);
	if (strcmp(again, text) != 0)
		return false;
	*ret_offset = offset;
	return true;
}
