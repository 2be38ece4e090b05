#include "ws/client/input_lines.h"

#include <stdlib.h>
#include <string.h>

static bool keep(struct input_lines *r, const char *bytes, size_t length)
{
	size_t needed = r->length + length;
	if (needed > r->max)
		return false;
	if (needed > r->size) {
		char *text = realloc(r->text, needed * 2);
		if (!text)
			return false;
		r->text = text;
		r->size = needed * 2;
	}
	if (length > 0)
		memcpy(r->text + r->length, bytes, length);
	r->length = needed;
	return true;
}

static void end_line(struct input_lines *r,
	void (*line)(void *user, const char *text, size_t length), void *user)
{
	size_t length = r->length;
	bool too_long = r->too_long;
	while (length > 0 && strchr(" \t\r", r->text[length - 1]))
		length--;
	r->length = 0;
	r->too_long = false;
	if (too_long)
		line(user, NULL, 0);
	else
		line(user, length > 0 ? r->text : "", length);
}

void input_lines_feed(struct input_lines *r, const char *bytes, size_t length,
	void (*line)(void *user, const char *text, size_t length), void *user)
{
	const char *end = bytes + length;
	while (bytes < end) {
		const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t n = (size_t)((feed ? feed : end) - bytes);
		if (!r->too_long && !keep(r, bytes, n))
			r->too_long = true;
		if (feed)
			end_line(r, line, user);
		bytes += n + 1;
	}
}

void input_lines_finish(struct input_lines *r)
{
	free(r->text);
	*r = (struct input_lines){.max = r->max};
}
