/*
 * The screen of a pane follows its history: here, when that takes no time, otherwise on a worker. Whoever looks at it has
 * it back.
 */
#pragma once

#include "shell/pane/look.h"
#include "shell/workers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCREENING_HERE ((uint64_t)8 << 10) /* bytes that are not worth the way to a worker */
#define SCREENING_ASKED \
	((uint64_t)64 << 10) /* that a program waits for an answer to its question behind */
#define SCREENING_WORK \
	((size_t)8 << 10) /* cells touched at once: 20 to 80 us, after which the clock is looked at */
#define SCREENING_SHARE 2u       /* of the ring: as much is sent, unless it gets old */
#define SCREENING_WATCHED_MS 20u /* which it is after this, while somebody watches */
#define SCREENING_UNWATCHED_MS 200u

struct pane;

/* What is known of a screen wherever it is: as it is now, or as it was when it went to a worker. */
struct glance {
	bool exists;              /* without one there are but the counters */
	bool alternate;           /* screen_is_alternate() */
	uint64_t version, resume; /* screen_version(), screen_resume_offset() */
	size_t memory;            /* screen_memory() */
	const char *title, *icon; /* "" for none; borrowed until the next turn */
	uint64_t checkpoints, checkpoint_failures, restarts, unheard; /* counters, see struct live */
};

/* Part of a pane; zeroed memory is one that has no workers. */
struct screening {
	struct errand errand;
	struct workers *workers; /* borrowed; NULL: all is done here */
	uint64_t since_ms; /* loop time since which there is something to follow; 0: there is not */
	struct look *looks; /* those who wait for it to be followed, or to be told; see shell/pane/look.h */
	bool painted_last;   /* it was away for a picture the last time: to follow comes first */
	bool paints;         /* it is away for a picture, of which this is: */
	struct look *sitter; /* who gets it; NULL: nobody any more */
	unsigned lines;
	bool marks;
	struct look_task *task; /* what it is away for in place of a picture; owned */
	bool painted;           /* of the worker, like `picture`, while it is away */
	struct picture picture;
	struct glance left; /* when it went away; title and icon are owned */
};

/*
 * Follow. coming: there will be another turn soon, for more output comes. watched: somebody looks at what comes of it.
 * Returns whether there is more to be done here.
 */
bool pane_follow(struct pane *p, bool coming, bool watched);

/* Before which offset the ring may be overwritten, see live_tail(). */
uint64_t pane_tail(struct pane *p);

/* The screen; NULL when it is with a worker, from where it will be back: see pane_look(). NULL as well when there is none. */
const struct screen *pane_screen_here(const struct pane *p);

/* What is known of it without waiting for it. */
struct glance pane_glance(const struct pane *p);

/* Whether there is one, wherever it is. */
bool pane_has_screen(const struct pane *p);

/* Have it here before it comes by itself; returns whether it was away. Only a turn sends it away again. */
bool pane_recall_screen(struct pane *p);

/* Where it is away for something patient, and that has not begun, it is done next: an owner waits for the screen. */
void pane_hurry_screen(struct pane *p);

/* Send it away for a picture, or a task; it is here. patient: as struct errand has it. */
void pane_lend_screen(struct pane *p, bool patient);

/* No more of it. */
void pane_close_screen(struct pane *p);
