/* See secret.h. The ranges are kept like those of queries. */
#include "ring/secret.h"

#include <assert.h>
#include <string.h>

static void hide_range(struct secret *s, uint64_t from, uint64_t to)
{
	if (from < to)
		queries_add(&s->ranges,
			&(struct scan_query){.start = from, .length = (uint32_t)(to - from)});
}

void secret_finish(struct secret *s)
{
	queries_finish(&s->ranges);
}

void secret_set(struct secret *s, const char *text)
{
	s->text = text;
	s->length = strlen(text);
	assert(s->length >= SECRET_MIN && s->length <= SECRET_MAX);
}

void secret_restart(struct secret *s, const struct stream *output, uint64_t offset)
{
	uint8_t start[SECRET_MAX];
	queries_finish(&s->ranges);
	if (!s->text || offset == 0)
		return;
	for (size_t n = s->length - 1; n >= SECRET_MIN / 2; n--) {
		const char *end = s->text + s->length - n;
		if (stream_copy(output, offset, start, n) && memcmp(start, end, n) == 0) {
			hide_range(s, offset, offset + n);
			return;
		}
	}
}

void secret_find(
	struct secret *s, uint64_t offset, const uint8_t *bytes, size_t length, uint64_t from)
{
	const uint8_t *at = bytes, *end = bytes + length;
	if (!s->text)
		return;
	while (at < end && (at = memmem(at, (size_t)(end - at), s->text, s->length))) {
		uint64_t start = offset + (uint64_t)(at - bytes);
		hide_range(s, start > from ? start : from, start + s->length);
		at += s->length;
	}
}

void secret_trim(struct secret *s, uint64_t offset)
{
	queries_trim(&s->ranges, offset);
}

void secret_redact(const struct secret *s, uint64_t offset, uint8_t *bytes, size_t length)
{
	queries_fill(&s->ranges, offset, bytes, length, SECRET_REDACTED);
}
