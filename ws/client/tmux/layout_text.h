/* A layout as text, "b25d,80x24,0,0,0", and back. Pure. */
#pragma once

#include "ws/client/tmux/layout.h"

#define LAYOUT_TEXT_DEPTH_MAX 64u

char *layout_text_write(struct arena *a, const struct cell *root);
/* The sum of cells in front of them, "80x24,0,0,0": a layout. */
char *layout_text_seal(struct arena *a, const char *cells);
/* One pane has all of the window. */
char *layout_text_write_zoomed(struct arena *a, const struct window *w);
/*
 * Give a window the layout of a text, whose cells its panes take in their order. Returns false, and changes nothing,
 * where it is none, or one for fewer panes.
 */
bool layout_text_apply(struct model *m, struct window *w, const char *text);
/*
 * The same of what has been written here: cells may be larger than what they lie in, as in tmux when all get the same
 * room, and one of them needs more.
 */
bool layout_text_restore(struct model *m, struct window *w, const char *text);
