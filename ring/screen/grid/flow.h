/*
 * Flow: all lines of the primary buffer, oldest first, while they are laid out anew for another number of
 * columns. The result is that of xterm.js' reflow, quirks included. Lines stay packed unless they change.
 */
#pragma once

#include "ring/screen/grid/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow {
	struct flow_line *lines;
	size_t count, capacity;
	size_t max;      /* lines that the buffer may have */
	size_t base;     /* index of the screen's first row */
	unsigned rows;   /* of the screen, new */
	unsigned y;      /* cursor's row below base */
	int64_t saved_y; /* absolute, like the saved cursor's */
	bool failed;     /* memory was short; lines are missing */
};

/* Append a line; takes it. One without anything says that memory was short. */
void flow_append(struct flow *f, struct flow_line line);

/* Let go of what a line has. */
void flow_drop(struct flow_line *at);

/* Lay out for new_cols; rows and lines above have been dealt with already. */
void flow_widen(struct flow *f, unsigned old_cols, unsigned new_cols);
void flow_narrow(struct flow *f, unsigned old_cols, unsigned new_cols);

void flow_finish(struct flow *f);
