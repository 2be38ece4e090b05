/* Packing of lines, from cells or from text. */
#pragma once

#include "ring/screen/grid/packed.h"

/* A line being packed. */
struct packing {
	uint64_t offset; /* as in struct packed */
	bool wrapped, odd;
	unsigned cells, content; /* so far; columns up to the last cell with content */
	unsigned runs, bytes, raws;
	struct packed_run run[PACKED_CELLS_MAX];
	uint8_t text[PACKED_CELLS_MAX * 6];
	/* `text` of cells that are stored raw */
	uint32_t raw[PACKED_CELLS_MAX];
};

/* Start an empty line. Returns this thread's only buffer; the previous line in it is lost. */
struct packing *packing_begin(uint64_t offset, bool wrapped);

/* Append cells with printable ASCII. */
void packing_ascii(struct packing *to, const uint8_t *ascii, unsigned count, uint32_t style);

/* Append cells without content. */
void packing_blank(struct packing *to, unsigned count, uint32_t style);

/* Append a character of one or two columns, as UTF-8. Not for controls or combining marks. */
void packing_character(
	struct packing *to, const uint8_t *utf8, unsigned size, unsigned width, uint32_t style);

/* Append a cell, and its second half if it is wide. */
void packing_cell(struct packing *to, struct cell cell);

/* Pack a whole line. Returns the thread's buffer. */
const struct packing *packing_line(const struct line *line);

/* A packed copy of a line, owned by the caller; NULL if memory is short. */
struct packed *packing_copy_of(const struct line *line);

/* Size of the packed line in bytes. */
size_t packing_size(const struct packing *from);

/* Write the packed line. to: packing_size() bytes. */
void packing_copy(const struct packing *from, struct packed *to);
