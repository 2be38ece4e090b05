/*
 * One behind the other in a buffer that grows: a head, then the text and the detail with a NUL behind each. Without
 * memory what is said is lost.
 */
#include "ring/screen/said.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT ((size_t)4 << 10) /* bytes of memory that are kept for the next time */

struct saying {
	size_t size; /* with all that belongs to it */
	bool is_reply;
	struct screen_event event; /* of a reply: its length */
};

static size_t size_of(size_t length, size_t detail_length)
{
	size_t size = sizeof(struct saying) + length + 1 + detail_length + 1;
	return (size + _Alignof(struct saying) - 1) & ~(_Alignof(struct saying) - 1);
}

static bool make_room(struct said *s, size_t size)
{
	if (s->length + size > SAID_MAX)
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

static void keep(struct said *s, struct saying saying)
{
	const struct screen_event *e = &saying.event;
	saying.size = size_of(e->length, e->detail ? e->detail_length : 0);
	if (!make_room(s, saying.size)) {
		s->lost++;
		return;
	}
	uint8_t *at = s->bytes + s->length;
	memcpy(at, &saying, sizeof saying);
	put(at + sizeof saying, e->text, e->length);
	put(at + sizeof saying + e->length + 1, e->detail, e->detail ? e->detail_length : 0);
	s->bell = !saying.is_reply && e->type == SCREEN_BELL ? s->length + 1 : 0;
	s->length += saying.size;
}

void said_reply(struct said *s, const char *bytes, size_t length)
{
	keep(s, (struct saying){.is_reply = true, .event = {.text = bytes, .length = length}});
}

void said_event(struct said *s, const struct screen_event *event)
{
	if (event->type == SCREEN_BELL && s->bell > 0)
		return;
	keep(s, (struct saying){.event = *event});
}

static void tell(
	uint8_t *at, struct saying *saying, const struct screen_callbacks *callbacks, void *user)
{
	struct screen_event *e = &saying->event;
	e->text = (const char *)(at + sizeof *saying);
	if (e->detail)
		e->detail = e->text + e->length + 1;
	if (saying->is_reply && callbacks->reply)
		callbacks->reply(user, e->text, e->length);
	else if (!saying->is_reply && callbacks->event)
		callbacks->event(user, e);
}

void said_tell(struct said *s, const struct screen_callbacks *callbacks, void *user)
{
	struct saying saying;
	for (size_t at = 0; at < s->length; at += saying.size) {
		memcpy(&saying, s->bytes + at, sizeof saying);
		tell(s->bytes + at, &saying, callbacks, user);
	}
	s->length = s->bell = 0;
	if (s->capacity > KEPT)
		said_finish(s);
}

void said_finish(struct said *s)
{
	free(s->bytes);
	*s = (struct said){.lost = s->lost};
}
