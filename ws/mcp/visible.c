/* Invisible characters are escaped, except joiners and selectors after a character they modify. */
#include "ws/mcp/visible.h"

#include "ring/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Joiners and variation selectors. Text needs one after a character; more can hide data. */
static bool is_joiner(uint32_t code)
{
	return code == 0x200c || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
}

static bool is_seen(uint32_t code, uint32_t before, bool line)
{
	if (code < ' ')
		return !line && (code == '\n' || code == '\t');
	/* A joiner may follow a selector, as in the rainbow flag. */
	if (is_joiner(code))
		return before > 0x7f && (!is_joiner(before) || (code == 0x200d && before >= 0xfe00));
	return !utf8_is_hidden(code);
}

size_t visible_text(const char *text, size_t length, bool line, char *dst)
{
	uint32_t before = 0;
	size_t n = 0;
	for (size_t at = 0; at < length;) {
		uint32_t code = 0;
		bool shown = true;
		unsigned size = text[at]
			? utf8_decode((const uint8_t *)text + at, length - at, &code)
			: 1;
		if (size == 0) {
			code = 0xfffd;
			n += (size_t)sprintf(dst + n, "\357\277\275");
		} else if ((shown = is_seen(code, before, line))) {
			memcpy(dst + n, text + at, size);
			n += size;
		} else if (code == '\n' || code == '\t') {
			n += (size_t)sprintf(dst + n, code == '\n' ? "\\n" : "\\t");
		} else {
			n += (size_t)sprintf(dst + n, "\\u{%X}", (unsigned)code);
		}
		at += size ? size : 1;
		before = shown ? code : 0; /* an escape ends in a brace */
	}
	dst[n] = '\0';
	return n;
}

bool visible_is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}
