#include "ws/fleet/event_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN ((size_t)4096)
#define DATA "data: "
#define DATA_LENGTH (sizeof DATA - 1)

int event_reader_add(struct event_reader *e, const char *bytes, size_t length)
{
	size_t held = e->to - e->from;
	if (held + length > EVENT_READER_MAX)
		return -E2BIG;
	if (e->from > 0 && e->to + length > e->size) {
		memmove(e->bytes, e->bytes + e->from, held);
		e->looked -= e->from;
		e->from = 0;
		e->to = held;
	}
	size_t size = e->size ? e->size : SIZE_MIN;
	while (size < e->to + length)
		size *= 2;
	if (size > e->size) {
		char *grown = realloc(e->bytes, size);
		if (!grown)
			return -ENOMEM;
		e->bytes = grown;
		e->size = size;
	}
	memcpy(e->bytes + e->to, bytes, length);
	e->to += length;
	return 0;
}

/* The end of the next event, before its empty line; NULL: it is not complete. */
static char *find_end(struct event_reader *e)
{
	char *end = e->to > e->looked ? memmem(e->bytes + e->looked, e->to - e->looked, "\n\n", 2)
				      : NULL;
	if (end)
		e->looked = (size_t)(end - e->bytes);
	else if (e->to > e->from)
		e->looked = e->to - 1; /* the first LF may be there */
	return end;
}

bool event_reader_has_next(struct event_reader *e)
{
	return find_end(e);
}

static char *copy(const char *bytes, size_t length)
{
	char *text = malloc(length + 1);
	if (!text)
		return NULL;
	memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

char *event_reader_next(struct event_reader *e)
{
	char *end;
	while ((end = find_end(e))) {
		const char *event = e->bytes + e->from;
		size_t length = (size_t)(end - event);
		bool data = length > DATA_LENGTH && memcmp(event, DATA, DATA_LENGTH) == 0;
		char *text = data ? copy(event + DATA_LENGTH, length - DATA_LENGTH) : NULL;
		if (data && !text)
			return NULL; /* it stays */
		e->from += length + 2;
		e->looked = e->from;
		if (data)
			return text;
	}
	return NULL;
}

size_t event_reader_length(const struct event_reader *e)
{
	return e->to - e->from;
}

void event_reader_finish(struct event_reader *e)
{
	free(e->bytes);
	*e = (struct event_reader){0};
}
