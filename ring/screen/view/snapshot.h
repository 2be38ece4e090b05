/*
 * Snapshot: bytes that bring a fresh terminal, or one that has been used, to the state of a screen: both
 * buffers with their scrollback and soft wraps, cursors, pen, margins, tab stops, charsets, modes, links,
 * colours and titles. They were made for xterm.js, and are nothing but the ordinary sequences.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stddef.h>
#include <stdint.h>

struct snapshot {
	char *bytes; /* to be freed by the caller */
	size_t length;
	unsigned lines; /* of scrollback in it */
};

/*
 * Take one. The terminal that gets it must have the screen's size already, and goes on with the output
 * from screen_resume_offset(). lines: how many lines of scrollback at most. It takes about 17 bytes a cell
 * where each has a colour of its own, and at the very most 200, with PAINT_LINKS_MAX for links: what is
 * beyond that has none.
 * Returns 0 or -ENOMEM.
 */
int screen_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);

/*
 * The same with the lines in which the shell's marks were (see ring/screen/markers.h), those in it: for each OSC 7007 with
 * "m", B or D, 0 when the cursor was at the left edge or 1, the offset behind the mark, ",", the number of the line.
 */
int screen_marked_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);

/*
 * The same for a screen of ours: it also says what terminals have no use for, such as where in the output
 * each line began. screen_restore() takes it, into a fresh screen of the same size that was created with
 * the offset of screen_resume_offset().
 */
int screen_checkpoint(struct screen *s, unsigned lines, struct snapshot *ret_snapshot);
void screen_restore(struct screen *s, const void *bytes, size_t length);
