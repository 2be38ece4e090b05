/*
 * Flow: all lines of the primary buffer, oldest first, during a reflow to another width. The result
 * equals that of xterm.js's reflow, quirks included. Unchanged lines stay packed.
 */
#pragma once

#include "ring/screen/grid/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines during a reflow. */
struct flow {
	struct flow_line *lines;
	size_t count, capacity;
	size_t max;      /* most lines that the buffer may have */
	size_t base;     /* index of the screen's first row */
	unsigned rows;   /* new rows of the screen */
	unsigned y;      /* cursor's row, relative to base */
	int64_t saved_y; /* absolute row of the saved cursor */
	bool failed;     /* memory was short and lines are missing */
};

/* Append a line and take ownership. An empty line means that its allocation failed. */
void flow_append(struct flow *f, struct flow_line line);

/* Free what a line owns and make it empty. */
void flow_drop(struct flow_line *at);

/* Reflow to more columns. The caller has already changed the number of rows. */
void flow_widen(struct flow *f, unsigned old_cols, unsigned new_cols);

/* Reflow to fewer columns. The caller has already changed the number of rows. */
void flow_narrow(struct flow *f, unsigned old_cols, unsigned new_cols);

/* Free all lines. */
void flow_finish(struct flow *f);
