/* How a window is divided among its panes: a tree of cells, as tmux has it. Pure. */
#pragma once

#include "ws/client/tmux/model.h"

enum cell_type { CELL_PANE, CELL_ROW, CELL_COLUMN }; /* a row's children stand side by side */

struct cell {
	enum cell_type type;
	int cols, rows, x, y;
	struct pane *pane; /* of a CELL_PANE */
	struct cell *parent, *children;
	struct cell *prev, *next;
};

#define LAYOUT_SIDE_MIN 1 /* of a pane */

struct layout_split {
	enum cell_type type; /* CELL_ROW: the new one beside it; CELL_COLUMN: below */
	int size;            /* of the new one; -1: half */
	bool before, full;   /* in front of it; beside all panes instead of one */
};

/* The only pane of a window has all of it. */
void layout_init(struct model *m, struct window *w, struct pane *p);
/* Make room beside a pane. Returns the new cell, which has no pane yet; NULL: there is no room for it. */
struct cell *layout_split(struct model *m, struct pane *p, const struct layout_split *split);
/* A pane goes; its room goes to its neighbour. */
void layout_close(struct window *w, struct pane *p);
/* Another size of the window. */
void layout_resize(struct window *w, int cols, int rows);
/* One side of a pane: by how much, or to how much. */
void layout_resize_pane(struct window *w, struct pane *p, enum cell_type type, int change);
void layout_resize_pane_to(struct window *w, struct pane *p, enum cell_type type, int size);
/* The neighbours of a pane, and itself, become equal. */
void layout_spread_out(struct window *w, struct pane *p);

/* What the other files of layouts build with. */
struct cell *layout_cell(struct model *m, struct cell *parent, enum cell_type type);
void layout_make_leaf(struct cell *c, struct pane *p);
bool layout_spread(struct cell *parent);
void layout_adjust(struct cell *c, enum cell_type type, int change);
void layout_fix(struct window *w);
