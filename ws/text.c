#include "ws/text.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd}; /* U+FFFD */

/* Begin a character with byte. Returns false when none begins so. */
static bool begin(struct text_decoder *d, uint8_t byte)
{
	d->lower = 0x80;
	d->upper = 0xbf;
	if (byte >= 0xc2 && byte <= 0xdf)
		d->needed = 2;
	else if (byte >= 0xe0 && byte <= 0xef)
		d->needed = 3;
	else if (byte >= 0xf0 && byte <= 0xf4)
		d->needed = 4;
	else
		return false;
	/* Nothing longer than necessary, no surrogates, nothing behind U+10FFFF. */
	if (byte == 0xe0)
		d->lower = 0xa0;
	else if (byte == 0xed)
		d->upper = 0x9f;
	else if (byte == 0xf0)
		d->lower = 0x90;
	else if (byte == 0xf4)
		d->upper = 0x8f;
	d->held[0] = byte;
	d->held_count = 1;
	return true;
}

static size_t replace(struct text_decoder *d, char *dst)
{
	memcpy(dst, replacement, sizeof replacement);
	d->lossy = true;
	d->held_count = 0;
	return 3;
}

/* One byte that is not plain ASCII, or that follows a beginning. */
static size_t take(struct text_decoder *d, uint8_t byte, char *dst)
{
	size_t n = 0;
	if (d->held_count > 0 && byte >= d->lower && byte <= d->upper) {
		d->held[d->held_count++] = byte;
		d->lower = 0x80;
		d->upper = 0xbf;
		if (d->held_count < d->needed)
			return 0;
		memcpy(dst, d->held, d->needed);
		d->held_count = 0;
		return d->needed;
	}
	if (d->held_count > 0)
		n = replace(d, dst);
	if (byte < 0x80)
		dst[n++] = (char)byte;
	else if (!begin(d, byte))
		n += replace(d, dst + n);
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
			n += take(d, src[i], dst + n);
	}
	return n;
}

size_t text_decode_end(struct text_decoder *d, char *dst)
{
	return d->held_count > 0 ? replace(d, dst) : 0;
}

/* Whether bytes are text as they are, and all of it: what nearly every output is. */
static bool is_text(const uint8_t *bytes, size_t length)
{
	struct text_decoder d = {0};
	char ignored[TEXT_SIZE(1)];
	for (size_t i = 0; i < length && !d.lossy; i++)
		if (bytes[i] >= 0x80 || d.held_count > 0)
			take(&d, bytes[i], ignored);
	return !d.lossy && d.held_count == 0;
}

json_t *text_json(struct text_decoder *d, const void *bytes, size_t length, bool last)
{
	if (length == 0 && !(last && d->held_count > 0))
		return json_string("");
	if (d->held_count == 0 && is_text(bytes, length))
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

size_t text_incomplete(const void *bytes, size_t length)
{
	const uint8_t *src = bytes;
	for (size_t n = 1; n <= 3 && n <= length; n++) {
		struct text_decoder d = {0};
		char ignored[TEXT_SIZE(3)];
		if ((src[length - n] & 0xc0) == 0x80)
			continue;
		text_decode(&d, src + length - n, n, ignored);
		return d.held_count == n ? n : 0;
	}
	return 0;
}

size_t text_orphaned(const void *bytes, size_t length)
{
	const uint8_t *src = bytes;
	size_t n = 0;
	while (n < 3 && n < length && (src[n] & 0xc0) == 0x80)
		n++;
	return n;
}

bool text_is_utf8(const char *text)
{
	struct text_decoder d = {0};
	char scratch[TEXT_SIZE(256)];
	size_t length = strlen(text);
	for (size_t at = 0; at < length && !d.lossy; at += 256)
		text_decode(&d, text + at, length - at < 256 ? length - at : 256, scratch);
	return !d.lossy && d.held_count == 0;
}
