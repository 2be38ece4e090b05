/* The named layouts of tmux. Pure. */
#pragma once

#include "ws/client/tmux/layout.h"

#define LAYOUT_SET_COUNT 5

/* Values of the options main-pane-height and the like: cells or percentages, as text. */
struct layout_set_sizes {
	const char *main_rows, *main_cols, *other_rows, *other_cols;
};

/* The index of a layout by its name or unique prefix, or -1. */
int layout_set_find(const char *name);
/* Apply a layout. The window gets the layout's size, which may be larger than before. */
void layout_set_apply(
	struct model *m, struct window *w, int which, const struct layout_set_sizes *sizes);
