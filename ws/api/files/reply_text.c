#include "ws/api/files/reply_text.h"

#include "shell/clock.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST ((size_t)1 << 10)
#define PIECE ((size_t)16 << 10) /* bytes decoded at a time */
#define SHORT ((size_t)192)

/* Reserve space for more bytes. Returns the end of the text, or NULL if a->failed. */
static char *reserve(struct reply_text *a, size_t more)
{
	if (!a->failed && a->length + more > REPLY_TEXT_MAX)
		a->failed = a->too_long = true;
	if (!a->failed && a->length + more > a->capacity) {
		size_t capacity = a->capacity ? a->capacity : FIRST;
		while (capacity < a->length + more)
			capacity *= 2;
		char *text = realloc(a->text, capacity);
		a->failed = !text;
		if (text) {
			a->text = text;
			a->capacity = capacity;
		}
	}
	return a->failed ? NULL : a->text + a->length;
}

static void put(struct reply_text *a, const char *text, size_t length)
{
	char *at = reserve(a, length);
	if (!at)
		return;
	memcpy(at, text, length);
	a->length += length;
}

void reply_text_raw(struct reply_text *a, const char *text)
{
	put(a, text, strlen(text));
}

static size_t escape(unsigned char c, char to[7])
{
	static const char named[] = "btn\0fr"; /* from 8 */
	to[0] = '\\';
	if (c == '"' || c == '\\') {
		to[1] = (char)c;
		return 2;
	}
	if (c >= 8 && c <= 13 && named[c - 8]) {
		to[1] = named[c - 8];
		return 2;
	}
	return (size_t)snprintf(to, 7, "\\u%04x", c);
}

void reply_text_escaped(struct reply_text *a, const char *bytes, size_t length)
{
	size_t plain = 0;
	char text[7];
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		put(a, bytes + plain, i - plain);
		put(a, text, escape(c, text));
		plain = i + 1;
	}
	put(a, bytes + plain, length - plain);
}

/* Decode size bytes at a time. text: TEXT_SIZE(size) bytes of scratch space. */
static void put_decoded(
	struct reply_text *a, const char *bytes, size_t length, char *text, size_t size)
{
	struct text_decoder decoder = {0};
	for (size_t at = 0; at < length && !a->failed; at += size) {
		size_t n = length - at < size ? length - at : size;
		reply_text_escaped(a, text, text_decode(&decoder, bytes + at, n, text));
	}
	reply_text_escaped(a, text, text_decode_end(&decoder, text));
}

static void put_long(struct reply_text *a, const char *bytes, size_t length)
{
	char text[TEXT_SIZE(PIECE)];
	put_decoded(a, bytes, length, text, PIECE);
}

void reply_text_string(struct reply_text *a, const void *bytes, size_t length)
{
	char text[TEXT_SIZE(SHORT)];
	reply_text_raw(a, "\"");
	/* Most strings are short; a small stack buffer is cheaper to initialise. */
	if (length <= SHORT)
		put_decoded(a, bytes, length, text, SHORT);
	else
		put_long(a, bytes, length);
	reply_text_raw(a, "\"");
}

void reply_text_cstring(struct reply_text *a, const char *text)
{
	reply_text_string(a, text, strlen(text));
}

void reply_text_number(struct reply_text *a, unsigned long long number)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", number);
	reply_text_raw(a, text);
}

void reply_text_bool(struct reply_text *a, bool flag)
{
	reply_text_raw(a, flag ? "true" : "false");
}

void reply_text_base64(struct reply_text *a, const void *bytes, size_t length)
{
	reply_text_raw(a, "\"");
	char *at = reserve(a, BASE64_SIZE(length));
	if (at)
		a->length += base64_encode(bytes, length, at);
	reply_text_raw(a, "\"");
}

void reply_text_now(struct reply_text *a)
{
	char now[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_ms(), now);
	reply_text_cstring(a, now);
}

void reply_text_finish(struct reply_text *a)
{
	free(a->text);
	*a = (struct reply_text){0};
}
