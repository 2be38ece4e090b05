/*
 * Records in a growing buffer: a header, then text and detail, each followed by a NUL. If memory is
 * short, a record is lost.
 */
#include "ring/screen/effects.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT ((size_t)4 << 10) /* bytes kept allocated when empty */

struct record {
	size_t size; /* of the whole record in bytes */
	bool is_reply;
	struct screen_event event; /* of a reply: text and length only */
};

static size_t size_of(size_t length, size_t detail_length)
{
	size_t size = sizeof(struct record) + length + 1 + detail_length + 1;
	return (size + _Alignof(struct record) - 1) & ~(_Alignof(struct record) - 1);
}

static bool reserve(struct effects *s, size_t size)
{
	if (s->length + size > EFFECTS_MAX)
		return false;
	if (s->length + size <= s->capacity)
		return true;
	size_t capacity = (s->length + size) * 2;
	uint8_t *bytes = realloc(s->bytes, capacity);
	if (!bytes)
		return false;
	s->bytes = bytes;
	s->capacity = capacity;
	return true;
}

static void put(uint8_t *to, const char *bytes, size_t length)
{
	if (length > 0)
		memcpy(to, bytes, length);
	to[length] = '\0';
}

static void append(struct effects *s, struct record record)
{
	const struct screen_event *e = &record.event;
	record.size = size_of(e->length, e->detail ? e->detail_length : 0);
	if (!reserve(s, record.size)) {
		s->lost++;
		return;
	}
	uint8_t *at = s->bytes + s->length;
	memcpy(at, &record, sizeof record);
	put(at + sizeof record, e->text, e->length);
	put(at + sizeof record + e->length + 1, e->detail, e->detail ? e->detail_length : 0);
	s->bell = !record.is_reply && e->type == SCREEN_BELL ? s->length + 1 : 0;
	s->length += record.size;
}

void effects_reply(struct effects *s, const char *bytes, size_t length)
{
	append(s, (struct record){.is_reply = true, .event = {.text = bytes, .length = length}});
}

void effects_event(struct effects *s, const struct screen_event *event)
{
	if (event->type == SCREEN_BELL && s->bell > 0)
		return;
	append(s, (struct record){.event = *event});
}

static void deliver(
	uint8_t *at, struct record *record, const struct screen_callbacks *callbacks, void *user)
{
	struct screen_event *e = &record->event;
	e->text = (const char *)(at + sizeof *record);
	if (e->detail)
		e->detail = e->text + e->length + 1;
	if (record->is_reply && callbacks->reply)
		callbacks->reply(user, e->text, e->length);
	else if (!record->is_reply && callbacks->event)
		callbacks->event(user, e);
}

void effects_deliver(struct effects *s, const struct screen_callbacks *callbacks, void *user)
{
	struct record record;
	for (size_t at = 0; at < s->length; at += record.size) {
		memcpy(&record, s->bytes + at, sizeof record);
		deliver(s->bytes + at, &record, callbacks, user);
	}
	s->length = s->bell = 0;
	if (s->capacity > KEPT)
		effects_finish(s);
}

void effects_finish(struct effects *s)
{
	free(s->bytes);
	*s = (struct effects){.lost = s->lost};
}
