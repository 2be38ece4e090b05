/* See shortage.h. Counts the allocator's sizes. For one thread. */
#include "tests/lib/shortage.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>

/* The names that the linker gives to malloc() and to the function that wraps it. */
void *__real_malloc(size_t size);               // NOLINT(bugprone-reserved-identifier)
void *__real_calloc(size_t count, size_t size); // NOLINT(bugprone-reserved-identifier)
void *__real_realloc(void *p, size_t size);     // NOLINT(bugprone-reserved-identifier)
void __real_free(void *p);                      // NOLINT(bugprone-reserved-identifier)
void *__wrap_malloc(size_t size);               // NOLINT(bugprone-reserved-identifier)
void *__wrap_calloc(size_t count, size_t size); // NOLINT(bugprone-reserved-identifier)
void *__wrap_realloc(void *p, size_t size);     // NOLINT(bugprone-reserved-identifier)
void __wrap_free(void *p);                      // NOLINT(bugprone-reserved-identifier)

static bool is_short;
static size_t left, refused, asked;
static int64_t now, peak;

void shortage_after(size_t n)
{
	is_short = true;
	left = n;
	refused = 0;
}

size_t shortage_over(void)
{
	is_short = false;
	return refused;
}

void shortage_count(void)
{
	asked = 0;
	now = peak = 0;
}

size_t shortage_asked(void)
{
	return asked;
}

size_t shortage_peak(void)
{
	return (size_t)peak;
}

static bool refuse(void)
{
	asked++;
	if (!is_short)
		return false;
	if (left > 0) {
		left--;
		return false;
	}
	refused++;
	return true;
}

static void *taken(void *p)
{
	now += (int64_t)malloc_usable_size(p);
	if (now > peak)
		peak = now;
	return p;
}

void *__wrap_malloc(size_t size) // NOLINT(bugprone-reserved-identifier)
{
	return refuse() ? NULL : taken(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) // NOLINT(bugprone-reserved-identifier)
{
	return refuse() ? NULL : taken(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size) // NOLINT(bugprone-reserved-identifier)
{
	if (refuse())
		return NULL;
	int64_t old = (int64_t)malloc_usable_size(p);
	void *moved = __real_realloc(p, size);
	if (!moved)
		return NULL;
	now -= old;
	return taken(moved);
}

void __wrap_free(void *p) // NOLINT(bugprone-reserved-identifier)
{
	now -= (int64_t)malloc_usable_size(p);
	__real_free(p);
}
