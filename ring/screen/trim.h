/*
 * What a screen takes, as those see it who have memory for so much only: its lines above, which can be given up, and the
 * rest, which cannot. What is given up counts as dropped, as lines do that are too many: see screen_dropped().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen;

/* Bytes, about. */
struct screen_weight {
	size_t all; /* screen_memory() */
	size_t lines; /* of that: the scrollback, and styles and the like that its lines alone must be using */
};

struct screen_weight screen_weigh(const struct screen *s);

/*
 * Lines of the scrollback that are older than a few screens can be frozen, see ring/screen/grid/scrollback.h: it takes a
 * few hundred microseconds a block, so it is for when there is nothing else to do. Whether there is a block of them; freeze so
 * many blocks, which returns whether there was any.
 */
#define SCREEN_WARM 4u /* screens of lines that are not frozen */
bool screen_may_freeze(const struct screen *s);
bool screen_freeze(struct screen *s, unsigned blocks);

/* What the cells of a screen of this size may take: both buffers, and the rows between their uses. */
size_t screen_size_bytes(unsigned rows, unsigned cols);

/*
 * Give up the oldest lines of the scrollback, and what only they used: about so many bytes, of what screen_weigh() calls
 * lines. Takes as long as a sweep of the whole screen. Returns how many lines those were, at least one if there was one.
 */
uint64_t screen_trim(struct screen *s, size_t bytes);
