/* The escape sequences of capture-pane -e, as grid_string_cells() of tmux 3.3a (grid.c) writes them. */
#pragma once

#include "ws/client/tmux/arena.h"

#include <jansson.h>

/* The style of the last cell, also across row ends. Colours are SGR parameters; underline may be "". */
struct capture_style {
	unsigned attributes;
	char fg[24], bg[24], underline[24];
};

/* Set the default style. */
void capture_style_begin(struct capture_style *s);
/*
 * Append the sequences that change the style from s to that of a run of cells, and update s.
 * run: an element of `cells` in a line of the server's screen; NULL: blank cells.
 */
void capture_style_change(struct text *out, struct capture_style *s, const json_t *run);
