/*
 * What is freed goes back to the system: sessions, screens and answers leave holes between what lives on, and
 * malloc() gives back nothing but what is at its end. A look every so often, and a trim when it is worth while.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define HEAP_TRIM_LOOK_MS 2000u
#define HEAP_TRIM_WORTH \
	((size_t)1 << 20) /* bytes freed since the last trim that are worth another */

struct heap_trim {
	uv_timer_t timer;
	size_t kept; /* the least that was free since the last trim: it has been given back */
};

/* Begin; the timer does not keep the loop alive. Cannot fail. */
void heap_trim_open(struct heap_trim *h, uv_loop_t *loop);

/* The memory is the caller's until the loop has closed the timer. */
void heap_trim_close(struct heap_trim *h);

/* A look at so many bytes that are free. Returns whether they are worth a trim now. */
bool heap_trim_look(struct heap_trim *h, size_t free_bytes);
