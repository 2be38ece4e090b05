/*
 * Memory of a screen, for callers with a memory budget: the scrollback, which can be dropped, and
 * the rest, which cannot. Lines dropped here count in screen_dropped().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* See ring/screen/screen.h. */
struct screen;

/* Approximate bytes of memory. */
struct screen_weight {
	size_t all; /* screen_memory() */
	/* part that trimming can free: the scrollback and the table entries only it uses */
	size_t lines;
};

/* Measure a screen. */
struct screen_weight screen_measure(const struct screen *s);

#define SCREEN_UNFROZEN_SCREENS 4u /* the newest scrollback lines, in screenfuls, are not frozen */

/* Whether there is a block of older lines to freeze, see ring/screen/grid/scrollback.h. */
bool screen_can_freeze(const struct screen *s);

/*
 * Freeze up to `blocks` blocks. A block takes a few hundred microseconds: call it when idle.
 * Returns false if nothing was frozen.
 */
bool screen_freeze(struct screen *s, unsigned blocks);

/* Most memory that the cells of a screen of this size take, with both buffers and spares. */
size_t screen_size_bytes(unsigned rows, unsigned cols);

/*
 * Drop the oldest lines of the scrollback and what only they use: about `bytes` of
 * screen_measure().lines. As slow as a sweep of the whole screen. Returns the number of lines
 * dropped, at least one if there was one.
 */
uint64_t screen_trim(struct screen *s, size_t bytes);
