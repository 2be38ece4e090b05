#include "shell/name.h"

#include <stdint.h>
#include <string.h>

bool name_is_id(const char *text)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@-";
	size_t length = strlen(text);
	return length >= 1 && length <= NAME_ID_MAX && text[0] != '.' &&
		strspn(text, allowed) == length;
}

size_t name_decode(const unsigned char *p, uint32_t *ret_code)
{
	size_t size = p[0] < 0x80 ? 1
		: p[0] < 0xc2     ? 0
		: p[0] < 0xe0     ? 2
		: p[0] < 0xf0     ? 3
		: p[0] < 0xf5     ? 4
				  : 0;
	if (size == 0)
		return 0;
	uint32_t code = size == 1 ? p[0] : p[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) || code > 0x10ffff ||
		(code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return size;
}

bool name_is_text(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t count = 0;
	while (*p) {
		uint32_t code;
		size_t size = name_decode(p, &code);
		if (size == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
			code == 0x2029)
			return false;
		/* Characters that reorder what stands beside them would let a name pose as another. */
		if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
			return false;
		p += size;
		count++;
	}
	return count >= 1 && count <= NAME_TEXT_MAX;
}

bool name_is_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t code;
	while (*p) {
		size_t size = name_decode(p, &code);
		if (size == 0)
			return false;
		p += size;
	}
	return true;
}
