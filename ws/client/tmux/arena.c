/* An arena is a list of allocations. If memory is short, the program exits. */
#include "ws/client/tmux/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_FIRST ((size_t)64)

struct arena_piece {
	struct arena_piece *next;
	max_align_t bytes[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_piece *p = calloc(1, sizeof *p + size);
	if (!p) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	p->next = a->pieces;
	a->pieces = p;
	return p->bytes;
}

char *arena_copy_n(struct arena *a, const char *text, size_t length)
{
	char *copy = arena_alloc(a, length + 1);
	if (length > 0)
		memcpy(copy, text, length);
	return copy;
}

char *arena_copy(struct arena *a, const char *text)
{
	return arena_copy_n(a, text, strlen(text));
}

static char *__attribute__((format(printf, 2, 0)))
format_list(struct arena *a, const char *format, va_list list, size_t *ret_length)
{
	va_list again;
	va_copy(again, list);
	int length = vsnprintf(NULL, 0, format, list);
	size_t size = length > 0 ? (size_t)length : 0;
	char *text = arena_alloc(a, size + 1);
	vsnprintf(text, size + 1, format, again);
	va_end(again);
	*ret_length = size;
	return text;
}

char *arena_print(struct arena *a, const char *format, ...)
{
	size_t length;
	va_list list;
	va_start(list, format);
	char *text = format_list(a, format, list, &length);
	va_end(list);
	return text;
}

void arena_finish(struct arena *a)
{
	while (a->pieces) {
		struct arena_piece *p = a->pieces;
		a->pieces = p->next;
		free(p);
	}
}

void text_add(struct text *t, const char *bytes, size_t length)
{
	if (length == 0)
		return;
	if (t->length + length + 1 > t->size) {
		size_t size = t->size ? t->size : TEXT_FIRST;
		while (size < t->length + length + 1)
			size *= 2;
		char *grown = arena_alloc(t->arena, size);
		if (t->length > 0)
			memcpy(grown, t->bytes, t->length);
		t->bytes = grown;
		t->size = size;
	}
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
	t->bytes[t->length] = '\0';
}

void text_puts(struct text *t, const char *string)
{
	text_add(t, string, strlen(string));
}

void text_print_list(struct text *t, const char *format, va_list list)
{
	size_t length;
	const char *text = format_list(t->arena, format, list, &length);
	text_add(t, text, length);
}

void text_print(struct text *t, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	text_print_list(t, format, list);
	va_end(list);
}

char *text_get(struct text *t)
{
	if (!t->bytes)
		text_add(t, "", 0);
	return t->bytes ? t->bytes : arena_copy(t->arena, "");
}
