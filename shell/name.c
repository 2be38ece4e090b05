/* Checks of text from outside; no state. Refused text could escape its directory, break a line, or imitate a name. */
#include "shell/name.h"

#include "ring/utf8.h"

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

bool name_is_line(const char *text, size_t most)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t count = 0;
	while (*p) {
		uint32_t code;
		size_t size = utf8_decode(p, UTF8_MAX, &code);
		if (size == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
			code == 0x2029)
			return false;
		/* Characters that change the text direction could make a name look like another. */
		if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
			return false;
		p += size;
		count++;
	}
	return count >= 1 && count <= most;
}

bool name_is_text(const char *text)
{
	return name_is_line(text, NAME_TEXT_MAX);
}
