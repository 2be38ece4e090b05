/* The size of a cell that programs are told. The fonts of clients differ, so it is nominal. */
#pragma once

#include <sys/ioctl.h>

#define CELL_WIDTH 8u   /* pixels */
#define CELL_HEIGHT 16u /* pixels */

/* The size of a terminal, for TIOCSWINSZ. */
static inline struct winsize cell_size_window(unsigned rows, unsigned cols)
{
	return (struct winsize){.ws_row = (unsigned short)rows,
		.ws_col = (unsigned short)cols,
		.ws_xpixel = (unsigned short)(cols * CELL_WIDTH),
		.ws_ypixel = (unsigned short)(rows * CELL_HEIGHT)};
}
