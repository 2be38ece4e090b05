/*
 * Markers: the lines in which the shell's prompts and commands ended, from the OSC 133 marks in the
 * output. As in xterm.js they stay with their lines through a reflow, until the lines are erased or
 * dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKERS_MAX 4096u /* then the oldest are removed */

/* See ring/screen/grid/flow.h. */
struct flow;

/* See ring/screen/screen.h. */
struct screen;

/* A mark in the output. */
struct marker {
	uint64_t offset; /* after the last byte of the mark */
	uint64_t line;   /* line number since the session's birth */
	char kind;       /* B: end of a prompt; D: end of a command */
	bool left;       /* the cursor was in the leftmost column */
};

/* All markers of a screen. */
struct markers {
	struct marker *items; /* ordered by offset */
	unsigned count, capacity;
	bool runs; /* a command is running: C without D */
};

/* Free the markers. */
void markers_finish(struct markers *m);

/* Handle an OSC 133 mark. text: what follows "133;". */
void markers_add(struct screen *s, const char *text, size_t length);

/* Remove markers in rows [first, end), which are erased. */
void markers_erase(struct screen *s, unsigned first, unsigned end);

/* Restore a marker from a checkpoint. Malformed text is ignored. */
void markers_restore(struct screen *s, const char *text);

/* Update line numbers after a reflow. dropped: number of dropped lines before the reflow. */
void markers_flow(struct screen *s, const struct flow *f, uint64_t dropped);
