/*
 * Looks at the screen of a pane: whoever wants to see it does so as of the end of the output when asking, or later. Where
 * that is little to be followed it is there at once; otherwise it is seen when a worker has got there. Pictures of it,
 * for terminals, are painted on a worker as well, unless they are small.
 */
#pragma once

#include "ring/live.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOK_PAINT_HERE \
	((uint64_t)16 << 10) /* cells that are painted in less time than the way to a worker takes */

struct pane;

/* A screen as bytes for terminals, and what has to be known of it then. */
struct picture {
	struct snapshot snapshot; /* without bytes: there was no memory for it, or there is no screen */
	unsigned rows, cols;
	unsigned total;          /* lines of scrollback that there were */
	uint64_t base;           /* lines above the screen since the session's birth */
	uint64_t offset, resume; /* screen_offset(), screen_resume_offset() */
	uint64_t sizes;          /* that it had taken, see struct live */
};

/* Something that is done with the screen on a worker, in place of a picture. */
struct look_task {
	/* On a worker, or on the loop where there is none. screen: NULL when there is none. */
	void (*work)(struct look_task *t, const struct screen *screen);
	void (*destroy)(struct look_task *t); /* the look was given up */
	uint64_t spent_ns;                    /* how long work() has taken */
};

enum look_state { LOOK_IDLE, LOOK_WAITS, LOOK_SITS, LOOK_PAINTED };

/* One look; the memory is the asker's. Zeroed memory is one that nobody takes. */
struct look {
	struct look *prev, *next;
	enum look_state state; /* sits: the picture is being painted, or the task is at work */
	struct pane *pane;     /* unless idle */
	uint64_t offset;       /* output before it is to be seen; set by pane_look() */
	uint64_t enough; /* a screen that terminals resume from here, or later, will do as well; 0: it will not */
	bool paints;    /* a picture is wanted */
	unsigned lines; /* of scrollback in that */
	bool marks;   /* and in which lines the shell's marks were, see screen_marked_snapshot() */
	bool patient; /* what is done for it on a worker may wait for others, see struct errand */
	struct look_task *task; /* owned until seen(), which takes it; NULL: none */
	struct picture picture; /* for seen(), which takes its bytes */
	void (*seen)(
		void *user); /* pane_screen_here() is what was asked for; in a turn of the pane */
	void (*gone)(void *user); /* the pane closes: nothing will be seen */
	void *user;
};

/* Look. Returns whether it is to be seen at once, picture and all; otherwise seen() or gone() follows, not from inside. */
bool pane_look(struct pane *p, struct look *look);

/* Give it up; neither is called any more. */
void look_end(struct look *look);

/* For the screening of the pane */

/* Those who can see now what they have asked for do. sit: the screen may be sent away to be painted for one of them. */
void pane_tell_looks(struct pane *p, bool sit);

/* Whether somebody waits for output to be followed that has been consumed. */
bool pane_has_looks(const struct pane *p);

/* On a worker: paint the picture, or do the task, that the screen has been sent away for. */
void pane_paint(struct pane *p);

/* That is back, painted or not. */
void pane_take_picture(struct pane *p);

/* No more of them: who waits is told. */
void pane_close_looks(struct pane *p);
