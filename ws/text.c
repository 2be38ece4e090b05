/* An incremental UTF-8 decoder that replaces ill-formed input by U+FFFD. */
#include "ws/text.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd}; /* U+FFFD */

static size_t replace(struct text_decoder *d, char *dst)
{
	memcpy(dst, replacement, sizeof replacement);
	d->lossy = true;
	d->held_count = 0;
	return 3;
}

/* Decode a byte that is not ASCII, or that follows the beginning of a character. */
static size_t decode_byte(struct text_decoder *d, uint8_t byte, char *dst)
{
	size_t n = 0;
	if (d->held_count > 0 && !utf8_continues(d->held, d->held_count, byte))
		n = replace(d, dst);
	if (!utf8_continues(d->held, d->held_count, byte))
		return n + replace(d, dst + n);
	d->held[d->held_count++] = byte;
	if (d->held_count < utf8_lead_length(d->held[0]))
		return n;
	memcpy(dst + n, d->held, d->held_count);
	n += d->held_count;
	d->held_count = 0;
	return n;
}

size_t text_decode(struct text_decoder *d, const void *bytes, size_t length, char *dst)
{
	const uint8_t *src = bytes;
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		if (src[i] < 0x80 && d->held_count == 0)
			dst[n++] = (char)src[i];
		else
			n += decode_byte(d, src[i], dst + n);
	}
	return n;
}

size_t text_decode_end(struct text_decoder *d, char *dst)
{
	return d->held_count > 0 ? replace(d, dst) : 0;
}

json_t *text_json(struct text_decoder *d, const void *bytes, size_t length, bool last)
{
	if (length == 0 && !(last && d->held_count > 0))
		return json_string("");
	/* The usual case: valid and complete text. */
	if (d->held_count == 0 && utf8_is_valid(bytes, length))
		return json_stringn_nocheck(bytes, length);
	char *text = malloc(TEXT_SIZE(length) + 3);
	if (!text)
		return NULL;
	size_t n = text_decode(d, bytes, length, text);
	if (last)
		n += text_decode_end(d, text + n);
	json_t *json = json_stringn_nocheck(text, n);
	free(text);
	return json;
}

json_t *text_string_json(const char *string)
{
	struct text_decoder decoder = {0};
	return text_json(&decoder, string ? string : "", string ? strlen(string) : 0, true);
}
