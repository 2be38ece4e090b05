/*
 * Only "data" fields are kept; comments and other fields are skipped. An empty line ends an event.
 */
#include "ws/client/connect/events.h"

#include <stdlib.h>
#include <string.h>

static bool append_bytes(struct events *e, const char *bytes, size_t length)
{
	if (e->length + length + 1 > e->size) {
		size_t size = (e->length + length + 1) * 2;
		char *data = size <= EVENTS_LINE_MAX ? realloc(e->data, size) : NULL;
		if (!data)
			return false;
		e->data = data;
		e->size = size;
	}
	memcpy(e->data + e->length, bytes, length);
	e->length += length;
	return true;
}

/* A line is complete: keep TEXT and a line feed of "data: TEXT", drop other lines. */
static void end_event_line(struct events *e)
{
	char *line = e->data + e->line;
	size_t length = e->length - e->line;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	size_t prefix = length >= 5 && memcmp(line, "data:", 5) == 0 ? 5 : 0;
	if (prefix > 0 && length > 5 && line[5] == ' ')
		prefix = 6;
	e->length = e->line;
	if (prefix == 0)
		return;
	memmove(line, line + prefix, length - prefix);
	e->length += length - prefix;
	e->data[e->length++] = '\n'; /* fits: the prefix is gone */
	e->line = e->length;
}

bool events_feed(struct events *e, const void *bytes, size_t length,
	void (*event)(void *user, const char *data, size_t length), void *user)
{
	const char *p = bytes, *end = p + length;
	while (p < end && !e->failed) {
		const char *feed = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((feed ? feed : end) - p);
		e->failed = !append_bytes(e, p, n);
		p += n + 1;
		if (!feed || e->failed)
			break;
		bool blank = e->length == e->line || (e->length == e->line + 1 && p[-2] == '\r');
		if (!blank) {
			end_event_line(e);
		} else if (e->line > 0) {
			size_t whole = e->line - 1;
			e->data[whole] = '\0';
			e->length = e->line = 0;
			event(user, e->data, whole);
		} else {
			e->length = 0;
		}
	}
	return !e->failed;
}

void events_finish(struct events *e)
{
	free(e->data);
	*e = (struct events){0};
}
