/* Layouts as text, such as "b25d,80x24,0,0,0". Pure. */
#pragma once

#include "ws/client/tmux/layout.h"

#define LAYOUT_TEXT_DEPTH_MAX 64u

/* The text of a layout, with its checksum; "" for NULL. */
char *layout_text_write(struct arena *a, const struct cell *root);
/* Put the checksum in front of cells such as "80x24,0,0,0". */
char *layout_text_add_checksum(struct arena *a, const char *cells);
/* The visible layout: if the window is zoomed, the active pane has all of it. */
char *layout_text_write_zoomed(struct arena *a, const struct window *w);
/*
 * Apply a layout that a client gave; cells get the panes in order. Returns false, and changes nothing, if the
 * text is invalid or has fewer cells than there are panes.
 */
bool layout_text_apply(struct model *m, struct window *w, const char *text);
/*
 * Apply a layout from the state file. Cells may be larger than their parent there, because tmux lets a window
 * overflow if its panes cannot shrink.
 */
bool layout_text_restore(struct model *m, struct window *w, const char *text);
