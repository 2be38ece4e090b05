/*
 * Screening: keeps the screen of a pane up to date with its history. Little output is processed on
 * the loop, much on a worker. Code that needs the screen meanwhile can recall it.
 */
#pragma once

#include "shell/pane/look.h"
#include "shell/workers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of output that are faster to process on the loop than on a worker. */
#define SCREENING_INLINE_MAX ((uint64_t)8 << 10)

/* As SCREENING_INLINE_MAX, when a program waits for the terminal's answer to a query in the output. */
#define SCREENING_QUERY_INLINE_MAX ((uint64_t)64 << 10)

/* Cells changed per step on the loop, which takes 20 to 80 us. */
#define SCREENING_STEP_CELLS ((size_t)8 << 10)

/* Pending output is sent to a worker if it is as large as this part of the ring, */
#define SCREENING_SHARE 2u
#define SCREENING_WATCHED_MS 20u    /* or this old and the screen has viewers, */
#define SCREENING_UNWATCHED_MS 200u /* or this old */

struct pane;

/* Properties of a screen: current, or as of when it was sent to a worker. */
struct glance {
	bool exists;              /* if false, only the counters are set */
	bool alternate;           /* screen_is_alternate() */
	uint64_t version, resume; /* screen_version(), screen_resume_offset() */
	size_t memory;            /* screen_memory() */
	const char *title, *icon; /* "" for none; borrowed until the next turn */
	struct progress progress; /* screen_progress() */
	/* Counters, see struct live. */
	uint64_t checkpoints, checkpoint_failures, restarts, unheard;
};

/* Part of a pane; zeroed memory has no workers. */
struct screening {
	struct work_item work_item;
	struct workers *workers;    /* borrowed; NULL: everything is done on the loop */
	uint64_t since_ms;          /* loop time since which output is pending; 0: none is */
	struct look *looks;         /* looks that wait; see shell/pane/look.h */
	bool painted_last;          /* the last work_item was a snapshot: process output first */
	bool paints;                /* the screen is lent for a snapshot or a task: */
	struct look *painting_look; /* the look that gets it; NULL: it was cancelled */
	unsigned lines;
	bool marks;
	struct look_task *task; /* the task, if it is lent for one; owned */
	bool painted;           /* set by the worker, like `picture`, while the screen is lent */
	struct picture picture;
	struct glance left; /* when it was lent; title and icon are owned */
};

/*
 * Process output. coming: another turn follows soon, because more output is arriving. watched: the
 * screen has viewers. Returns whether there is more to do on the loop.
 */
bool pane_follow(struct pane *p, bool coming, bool watched);

/* The ring may be overwritten before this offset, see live_tail(). */
uint64_t pane_tail(struct pane *p);

/* The screen; NULL if it is on a worker (see pane_look()) or if there is none. */
const struct screen *pane_unlent_screen(const struct pane *p);

/* Properties of the screen, available even while it is on a worker. */
struct glance pane_screen_summary(const struct pane *p);

/* Whether there is a screen, on the loop or on a worker. */
bool pane_has_screen(const struct pane *p);

/* Bring the screen back, waiting for the worker. Returns whether it was lent. */
bool pane_recall_screen(struct pane *p);

/* If the screen waits for a worker with patience, its work_item becomes the next one. */
void pane_hurry_screen(struct pane *p);

/* Lend the screen, which is not lent yet, for a snapshot or a task. patient: see struct work_item. */
void pane_lend_screen(struct pane *p, bool patient);

/* Recall the screen, cancel all looks and free the screen. */
void pane_close_screen(struct pane *p);
