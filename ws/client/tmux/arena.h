/* Memory of one call of `ringside tmux`. If memory is short, a message is printed and the program exits. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Allocations that are freed together. Zero-initialize it. */
struct arena {
	struct arena_piece *pieces; /* owned */
};

/* Allocate zeroed bytes. Never returns NULL. */
void *arena_alloc(struct arena *a, size_t size);
/* Copy a string. */
char *arena_copy(struct arena *a, const char *text);
/* Copy length bytes and add a NUL. */
char *arena_copy_n(struct arena *a, const char *text, size_t length);
/* Format a string, as printf(3). */
char *arena_print(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Free all allocations. */
void arena_finish(struct arena *a);

/* A growing string in an arena. Zero-initialize it, except for the arena. */
struct text {
	struct arena *arena;
	char *bytes; /* NUL-terminated, or NULL while it is empty */
	size_t length, size;
};

/* Append length bytes. */
void text_add(struct text *t, const char *bytes, size_t length);
/* Append a string. */
void text_puts(struct text *t, const char *string);
/* Append formatted text, as printf(3). */
void text_print(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append formatted text, as vprintf(3). */
void text_print_list(struct text *t, const char *format, va_list list)
	__attribute__((format(printf, 2, 0)));
/* The content, NUL-terminated. Never returns NULL. */
char *text_get(struct text *t);
