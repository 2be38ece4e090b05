/*
 * Look: a request to read the screen of a pane, with all output up to the time of the request. If
 * little output is pending, the screen is ready at once; otherwise a worker processes the output
 * first. Snapshots for terminals are painted on a worker as well, unless they are small.
 */
#pragma once

#include "ring/live/live.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cells of a snapshot that is faster to paint on the loop than on a worker. */
#define LOOK_PAINT_INLINE_MAX ((uint64_t)16 << 10)

struct pane;

/* A snapshot of a screen, and the state of the screen at that time. */
struct picture {
	struct snapshot snapshot; /* without bytes if memory was short or there is no screen */
	unsigned rows, cols;
	unsigned total;          /* lines of scrollback */
	uint64_t base;           /* lines above the screen since the session's start */
	uint64_t offset, resume; /* screen_offset(), screen_resume_offset() */
	uint64_t sizes;          /* resizes so far, see struct live */
};

/* Work on the screen that is done on a worker, instead of a snapshot. */
struct look_task {
	/* On a worker, or on the loop if there are no workers. screen: NULL if there is none. */
	void (*work)(struct look_task *t, const struct screen *screen);
	void (*destroy)(struct look_task *t); /* the look was cancelled */
	uint64_t spent_ns;                    /* out: duration of work() */
};

/* LOOK_PAINTING: the snapshot is being painted, or the task runs. */
enum look_state { LOOK_IDLE, LOOK_WAITING, LOOK_PAINTING, LOOK_PAINTED };

/* One request; the memory is the caller's. Zeroed memory is idle. */
struct look {
	struct look *prev, *next;
	enum look_state state;
	struct pane *pane; /* NULL if idle */
	uint64_t offset;   /* end of the output that must be on the screen; set by pane_look() */
	uint64_t enough;   /* or a screen with at least this resume offset; 0: unused */
	bool paints;       /* a snapshot is wanted */
	unsigned lines;    /* of scrollback in the snapshot */
	bool marks;        /* with the lines of shell marks, see screen_marked_snapshot() */
	bool patient;      /* other work may go first, see struct work_item */
	struct look_task *task;   /* owned until seen(), which takes it; NULL: none */
	struct picture picture;   /* for seen(), which takes its bytes */
	void (*seen)(void *user); /* pane_unlent_screen() is up to date; in a turn of the pane */
	void (*gone)(void *user); /* the pane closes: seen() will not be called */
	void *user;
};

/* Start a look. Returns true if it is done at once; otherwise seen() or gone() follows. */
bool pane_look(struct pane *p, struct look *look);

/* Cancel a look and free what it owns, without callbacks. Harmless if it is idle. */
void look_cancel(struct look *look);

/* The following functions are for screening.c. */

/* Call seen() of all looks that are ready. sit: the screen may be lent for painting. */
void pane_finish_looks(struct pane *p, bool sit);

/* Whether a look waits for output that the history has consumed already. */
bool pane_has_looks(const struct pane *p);

/* On a worker: paint the snapshot or do the task that the screen was lent for. */
void pane_paint(struct pane *p);

/* Store the result of pane_paint() in its look, once the screen is back. */
void pane_receive_picture(struct pane *p);

/* Cancel all looks and call gone(). */
void pane_close_looks(struct pane *p);
