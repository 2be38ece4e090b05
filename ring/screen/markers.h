/*
 * Markers: the lines in which prompts of the session's shell have ended and its commands have, as the marks of OSC 133 in
 * the output say. They stay with their lines as those of xterm.js do: when lines are laid out anew for another width, and
 * until they are erased or dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKERS_MAX 4096u /* the oldest give way */

struct flow;
struct screen;

struct marker {
	uint64_t offset; /* behind the last byte of the mark */
	uint64_t line;   /* counted from the session's birth */
	char kind;       /* B: a line can be typed; D: a command has ended */
	bool left;       /* the cursor was at the left edge */
};

struct markers {
	struct marker *items; /* by their offsets */
	unsigned count, room;
	bool runs; /* a command has begun (C), and its end has not come */
};

void markers_finish(struct markers *m);

/* A mark of OSC 133 has come: text is what follows the number. */
void markers_mark(struct screen *s, const char *text, size_t length);

/* Rows [first, end) are erased, which ends theirs. */
void markers_erase(struct screen *s, unsigned first, unsigned end);

/* One of a checkpoint; text that makes no sense is ignored. */
void markers_restore(struct screen *s, const char *text);

/* Lines have been laid out anew: they are those of the flow. dropped: lines that had been dropped when they went into it. */
void markers_flow(struct screen *s, const struct flow *f, uint64_t dropped);
