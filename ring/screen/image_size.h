/*
 * Sizes of images in the output: sixel graphics (DCS q) and files of iTerm2 (OSC 1337 ; File=). Pure; the images are not decoded.
 * The page does the same (web/src/images/size.ts), because an image takes the same cells in every window: a cell counts as
 * CELL_WIDTH by CELL_HEIGHT pixels, whatever the font. Programs are told that size, too.
 */
#pragma once

#include "ring/cell_size.h"

#include <stdbool.h>
#include <stddef.h>

#define IMAGE_SIDE_MAX 4096u                /* pixels, as it is shown */
#define IMAGE_FILE_SIDE_MAX 10000u          /* pixels of a file, which may be shown smaller */
#define IMAGE_BYTES_MAX ((4u << 20) - 4096) /* of the data of a sequence: a ring's default size */

/* A size in pixels. */
struct image_size {
	unsigned width, height;
};

/*
 * The size of sixel graphics: that of the raster attributes, or else that of what is drawn. data: behind DCS q. Controls
 * are passed over. Returns false if it is empty or too large, or not ASCII. Sources: VT330/VT340 Programmer Reference, chapter 14.
 */
bool image_size_sixel(const char *data, size_t length, struct image_size *ret_size);

/*
 * The size of a PNG, JPEG or GIF file that OSC 1337 shows in a terminal of cols by rows cells. data: behind "1337;". Wider
 * images are shrunk to the terminal. Returns false if it is no such file or is not to be shown. Source:
 * https://iterm2.com/documentation-images.html
 */
bool image_size_file(
	const char *data, size_t length, unsigned cols, unsigned rows, struct image_size *ret_size);
