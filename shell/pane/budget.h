/*
 * Budget: a memory limit for all screens of a server together. Each screen uses what its size
 * needs; the rest is for scrollback. Above the limit scrollback lines are dropped, first from panes
 * without viewers, and among those from the pane that has been inactive longest. They count as
 * dropped, like lines beyond the scrollback limit. The lines on a screen are never dropped. Sizes
 * that would not fit are refused, except small ones.
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

/* The budget of all panes of a server. Zeroed memory has no limit. */
struct budget {
	size_t limit;     /* bytes; 0: none */
	size_t used;      /* bytes of all screens, as last weighed */
	size_t committed; /* bytes without scrollback: per screen size or used, whichever is more */
	size_t asked;     /* bytes of scrollback that panes have been asked to drop */
	struct pane *first;     /* panes that have a share */
	uint64_t trims, lines;  /* counters: requests to drop scrollback, and lines dropped */
	uint64_t sizes_refused; /* counter */
};

/* A pane's share. Zeroed memory is none. */
struct budget_share {
	struct pane *prev, *next;
	struct budget *budget; /* borrowed; NULL: no share */
	size_t size;           /* bytes that its size may need */
	size_t used, lines;    /* bytes as last weighed: all, and of them scrollback */
	size_t give;      /* bytes of scrollback that it has been asked to drop and still has */
	uint64_t given;   /* lines dropped in total, when last weighed */
	uint64_t version; /* of the screen, when last weighed */
	uint64_t frozen;  /* version at which lines were frozen, see struct live */
	bool watched;     /* it has viewers */
};

/* Give a pane a share, or update its size if it has one. */
void budget_join(struct budget *b, struct pane *p);

/* Remove a pane's share, if it has one. */
void budget_leave(struct pane *p);

/*
 * Whether the size fits for this pane's screen, or for a new one (p: NULL). A refusal is counted.
 */
bool budget_allows(struct budget *b, const struct pane *p, unsigned rows, unsigned cols);

/* Update the share after the pane was resized. */
void budget_resized(struct pane *p);

/* Weigh the pane's screen, if it is not on a worker. Panes that must drop lines get a turn. */
void budget_weigh(struct pane *p, bool watched);
