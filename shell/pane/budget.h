/*
 * The budget of screens: memory for all of them together, however many there are and whoever makes them large. Each takes
 * what its size needs; what is left is for the lines above. When there is too much of those, the ones go that nobody
 * watches, of the terminals that have been quiet longest first: they count as dropped, as those do that are too many. What
 * is on a screen never goes. Sizes for which there would not be room are refused; small ones never are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_DEFAULT ((size_t)512 << 20)
#define BUDGET_MIN ((size_t)16 << 20)
#define BUDGET_MAX ((size_t)1 << 40)
#define BUDGET_SMALL 20000u /* cells of a screen that is never refused */

struct pane;

/* Of all panes of a server. Zeroed memory has no limit. */
struct budget {
	size_t limit; /* bytes; 0: none */
	size_t used;  /* what screens took when they were weighed last */
	size_t committed; /* what their sizes may take, or the rest of them does; without the lines above */
	size_t asked;           /* of lines above that are to be given up */
	struct pane *first;     /* those that have a share */
	uint64_t trims, lines;  /* times that lines had to be given up; and how many: counters */
	uint64_t sizes_refused; /* a counter */
};

/* What a pane has of it. Zeroed memory is one that has none. */
struct budget_share {
	struct pane *prev, *next;
	struct budget *budget; /* borrowed; NULL: it has no share */
	size_t size;           /* what its size may take */
	size_t used, lines;    /* as weighed: all of it, and what of it are lines above */
	size_t give;           /* bytes of those that it has been asked for, and has not given */
	uint64_t given;        /* lines that it had given when it was weighed last */
	uint64_t version;      /* of the screen, then */
	uint64_t frozen;       /* in which version lines were frozen, see struct live */
	bool watched;          /* somebody looks at what comes of it */
};

/* Take part, or no more. The first may be called again; the second is harmless without the first. */
void budget_join(struct budget *b, struct pane *p);
void budget_leave(struct pane *p);

/* Whether there is room for this pane's screen to have another size, or a new one this; otherwise that is counted. */
bool budget_admits(struct budget *b, const struct pane *p, unsigned rows, unsigned cols);

/* The pane has the size that it says. */
void budget_resized(struct pane *p);

/* Its screen is here, and may be another: whoever has to give up lines for it is told, and has a turn. */
void budget_weigh(struct pane *p, bool watched);
