/* The layouts that have names. Pure. */
#pragma once

#include "ws/client/tmux/layout.h"

#define LAYOUT_SET_COUNT 5

/* Sizes that options give, of main-horizontal and main-vertical; as text, may be percentages. */
struct layout_set_sizes {
	const char *main_rows, *main_cols, *other_rows, *other_cols;
};

/* Which one a name means, or its beginning where that is clear; -1: none. */
int layout_set_find(const char *name);
void layout_set_apply(
	struct model *m, struct window *w, int which, const struct layout_set_sizes *sizes);
