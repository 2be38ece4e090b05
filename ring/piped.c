/*
 * Outside of a hidden range inert output passes; inside of one the scanner finds its end. If memory
 * for the bits is short, everything in the ring up to that point is hidden.
 */
#include "ring/piped.h"

#include "ring/inert.h"
#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ESC 0x1b
#define DEL 0x7f
#define UNFINISHED_MAX 64 /* longest unfinished sequence or character to wait for */

void piped_init(struct piped *p, size_t size)
{
	*p = (struct piped){.size = size};
	piped_reset(p);
}

void piped_finish(struct piped *p)
{
	free(p->bits);
	p->bits = NULL;
}

void piped_reset(struct piped *p)
{
	scan_init(&p->scan, 0);
}

static void hide(struct piped *p, uint64_t offset)
{
	if (!p->bits)
		p->bits = calloc(p->size / 8, 1);
	p->end = offset + 1;
	if (!p->bits) {
		p->failed = offset + 1;
		return;
	}
	uint64_t at = offset & (p->size - 1);
	p->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Only the controls BEL to CR are shown: others do nothing or last, such as charset shifts. */
static void hide_controls(struct piped *p, uint64_t offset, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		uint8_t c = bytes[i];
		bool shown = c >= ' ' ? c != DEL : (c >= '\a' && c <= '\r') || c == ESC || c == '\0';
		if (!shown)
			hide(p, offset + i);
	}
}

/* Whether more bytes could complete this to something that is shown. */
static bool is_unfinished(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *c = at + 1;
	if (end - at >= UNFINISHED_MAX)
		return false;
	if (*at == ESC) {
		if (c < end && *c++ != '[')
			return false;
		while (c < end && *c >= '0' && *c <= ';')
			c++;
	} else {
		if (*at < 0xc2)
			return false;
		while (c < end && utf8_is_continuation(*c))
			c++;
	}
	return c == end;
}

static void ignore_query(void *user, const struct scan_query *query)
{
	(void)user;
	(void)query;
}

/* Hide bytes up to the end of what is not inert. Returns their number. */
static size_t hide_some(struct piped *p, uint64_t offset, const uint8_t *bytes, size_t length)
{
	size_t at = 0;
	do {
		scan_feed(&p->scan, bytes + at, 1, ignore_query, NULL);
		hide(p, offset + at++);
		/* An interrupted character is over. */
		if (p->scan.tokenizer.state == TOKENIZER_GROUND && at < length &&
			!utf8_is_continuation(bytes[at]))
			piped_reset(p);
	} while (at < length && !scan_is_ground(&p->scan));
	return at;
}

size_t piped_feed(struct piped *p, uint64_t offset, const uint8_t *bytes, size_t length, bool last)
{
	const uint8_t *at = bytes, *end = bytes + length;
	while (at < end) {
		uint64_t here = offset + (uint64_t)(at - bytes);
		if (scan_is_ground(&p->scan)) {
			const uint8_t *next = inert_skip(at, end);
			hide_controls(p, here, at, (size_t)(next - at));
			here += (uint64_t)(next - at);
			at = next;
			if (at == end)
				break;
			if (!last && is_unfinished(at, end))
				return (size_t)(at - bytes);
		}
		at += hide_some(p, here, at, (size_t)(end - at));
	}
	return length;
}

void piped_clear(struct piped *p, uint64_t offset, size_t length)
{
	if (!p->bits)
		return;
	for (uint64_t at = offset; at < offset + length; at++) {
		uint64_t place = at & (p->size - 1);
		if (place % 8 == 0 && offset + length - at >= 8) {
			p->bits[place / 8] = 0;
			at += 7;
		} else {
			p->bits[place / 8] &= (uint8_t) ~(1u << place % 8);
		}
	}
}

void piped_forget(struct piped *p, uint64_t offset)
{
	if (p->bits && p->end <= offset)
		piped_finish(p);
}

void piped_apply(const struct piped *p, uint64_t offset, uint8_t *bytes, size_t length)
{
	if (offset < p->failed)
		memset(bytes, 0,
			p->failed - offset < length ? (size_t)(p->failed - offset) : length);
	for (size_t i = 0; i < length && p->bits && offset + i < p->end; i++) {
		uint64_t at = (offset + i) & (p->size - 1);
		if (at % 8 == 0 && p->bits[at / 8] == 0)
			i += 7;
		else if (p->bits[at / 8] & 1u << at % 8)
			bytes[i] = '\0';
	}
}
