/* A buffer that doubles in size. Failures are sticky and checked once, at the end. */
#include "ring/screen/view/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool output_reserve(struct output *o, size_t more)
{
	if (o->failed)
		return false;
	if (o->length + more <= o->capacity)
		return true;
	size_t capacity = o->capacity ? o->capacity * 2 : 4096;
	while (capacity < o->length + more)
		capacity *= 2;
	char *bytes = realloc(o->bytes, capacity);
	if (!bytes) {
		o->failed = true;
		return false;
	}
	o->bytes = bytes;
	o->capacity = capacity;
	return true;
}

void output_put(struct output *o, const void *bytes, size_t length)
{
	if (length == 0 || !output_reserve(o, length))
		return;
	memcpy(o->bytes + o->length, bytes, length);
	o->length += length;
}

void output_text(struct output *o, const char *text)
{
	output_put(o, text, strlen(text));
}

void output_format(struct output *o, const char *format, ...)
{
	char text[128];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (length > 0)
		output_put(o, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
