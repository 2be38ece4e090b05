/* How a window is divided among its panes: a tree of cells, as in tmux. Pure. */
#pragma once

#include "ws/client/tmux/model.h"

/* The children of a CELL_ROW are side by side, those of a CELL_COLUMN one below the other. */
enum cell_type { CELL_PANE, CELL_ROW, CELL_COLUMN };

/* A rectangle of a window. */
struct cell {
	enum cell_type type;
	int cols, rows, x, y;
	struct pane *pane; /* of a CELL_PANE */
	struct cell *parent, *children;
	struct cell *prev, *next;
};

#define LAYOUT_SIDE_MIN 1 /* of a pane */

/* How to split a pane. */
struct layout_split {
	enum cell_type type; /* CELL_ROW: the new one is to the right; CELL_COLUMN: below */
	int size;            /* of the new one; -1: half */
	bool before, full;   /* to the left or above; across the whole window */
};

/* Give the whole window to its only pane. */
void layout_init(struct model *m, struct window *w, struct pane *p);
/* Split a pane. Returns the new cell, without a pane, or NULL if the space is too small. */
struct cell *layout_split(struct model *m, struct pane *p, const struct layout_split *split);
/* Remove the cell of a pane; its neighbour gets the space. */
void layout_close(struct window *w, struct pane *p);
/* Resize the window's layout, as far as panes can shrink. */
void layout_resize(struct window *w, int cols, int rows);
/* Move a border of a pane by change cells. */
void layout_resize_pane(struct window *w, struct pane *p, enum cell_type type, int change);
/* Resize one side of a pane to size cells. */
void layout_resize_pane_to(struct window *w, struct pane *p, enum cell_type type, int size);
/* Make a pane and its neighbours equally large (select-layout -E). */
void layout_spread_out(struct window *w, struct pane *p);

/* Create a cell, which is not yet in its parent's list. For the files layout*.c. */
struct cell *layout_cell(struct model *m, struct cell *parent, enum cell_type type);
/* Put a pane into a cell; NULL: none. */
void layout_set_pane(struct cell *c, struct pane *p);
/* Make the children of a cell equally large. Returns whether a size changed. */
bool layout_spread(struct cell *parent);
/* Grow or shrink one side of a cell, with all that it contains. */
void layout_adjust(struct cell *c, enum cell_type type, int change);
/* Calculate the offsets of all cells. */
void layout_set_offsets(struct window *w);
