/*
 * Returns freed memory to the system. Sessions, screens and replies leave holes in the heap, and free(3) alone only
 * returns memory at its end. A timer checks periodically whether a trim is worthwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define HEAP_TRIM_INTERVAL_MS 2000u
#define HEAP_TRIM_MIN ((size_t)1 << 20) /* bytes freed since the last trim that justify another */

/* A periodic trim of the heap. */
struct heap_trim {
	uv_timer_t timer;
	size_t kept; /* fewest free bytes since the last trim: those are returned already */
};

/* Start; the timer does not keep the loop alive. Cannot fail. */
void heap_trim_open(struct heap_trim *h, uv_loop_t *loop);

/* Stop. The memory is the caller's until the loop has closed the timer. */
void heap_trim_close(struct heap_trim *h);

/* Record the number of free bytes of the heap. Returns whether a trim is worthwhile now. */
bool heap_trim_is_due(struct heap_trim *h, size_t free_bytes);
