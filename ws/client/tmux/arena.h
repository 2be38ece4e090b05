/* Memory that lives as long as a call of `ringside tmux`. What cannot be had ends the call, with a word on standard error. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct arena {
	struct arena_piece *pieces; /* owned */
};

/* Zeroed bytes; never NULL. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_copy(struct arena *a, const char *text);
char *arena_copy_n(struct arena *a, const char *text, size_t length);
char *arena_print(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

void arena_finish(struct arena *a);

/* A text that grows, in an arena. Zeroed but for the arena to begin with. */
struct text {
	struct arena *arena;
	char *bytes; /* NUL-terminated, or NULL while it is empty */
	size_t length, size;
};

void text_add(struct text *t, const char *bytes, size_t length);
void text_puts(struct text *t, const char *string);
void text_print(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_print_list(struct text *t, const char *format, va_list list)
	__attribute__((format(printf, 2, 0)));
/* What it holds, never NULL. */
char *text_get(struct text *t);
