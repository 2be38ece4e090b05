/* The size of a cell that programs are told. The fonts of clients differ, so it is nominal. */
#pragma once

#include <limits.h>
#include <sys/ioctl.h>

#define CELL_WIDTH 8u   /* pixels */
#define CELL_HEIGHT 16u /* pixels */

static inline unsigned short cell_size_pixels(unsigned cells, unsigned cell)
{
	return (unsigned short)(cells < USHRT_MAX / cell ? cells * cell : USHRT_MAX);
}

/* The size of a terminal, for TIOCSWINSZ. */
static inline struct winsize cell_size_window(unsigned rows, unsigned cols)
{
	return (struct winsize){.ws_row = (unsigned short)rows,
		.ws_col = (unsigned short)cols,
		.ws_xpixel = cell_size_pixels(cols, CELL_WIDTH),
		.ws_ypixel = cell_size_pixels(rows, CELL_HEIGHT)};
}
