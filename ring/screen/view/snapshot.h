/*
 * Snapshot: bytes that bring a fresh or used terminal to the state of a screen: both buffers with
 * scrollback and soft wraps, cursors, pen, margins, tab stops, charsets, modes, links, colours and
 * titles. Made for xterm.js, from standard sequences only.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stddef.h>
#include <stdint.h>

/* A snapshot. */
struct snapshot {
	char *bytes; /* owned by the caller */
	size_t length;
	unsigned lines; /* lines of scrollback in it */
};

/*
 * Take a snapshot. The receiving terminal must have the screen's size and continues with the output
 * from screen_resume_offset(). lines: most lines of scrollback. Size: about 17 bytes a cell if each
 * has another colour, at most 200, plus PAINT_LINKS_MAX for links; further links are omitted.
 * Returns 0 or -ENOMEM.
 */
int screen_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);

/*
 * The same, with the lines of the shell's marks (ring/screen/markers.h) as OSC 7007: "m", B or D, 0
 * if the cursor was in the leftmost column or 1, the offset after the mark, ",", the line number. Also
 * with images, as OSC 7007 in place of their cells: "i", then see screen_restore_image().
 */
int screen_marked_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);

/* The same for screen_restore(), with private sequences such as the offset of each line. */
int screen_checkpoint(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);

/* Restore a checkpoint into a fresh screen of its size, created with its resume offset. */
void screen_restore(struct screen *s, const void *bytes, size_t length);
