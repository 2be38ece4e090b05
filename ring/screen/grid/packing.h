/* Packing lines, cell by cell or text by text. */
#pragma once

#include "ring/screen/grid/packed.h"

/* A line that is being packed, before its size is known. */
struct packing {
	uint64_t offset; /* as in struct packed */
	bool wrapped, odd;
	unsigned cells, content; /* so far; columns up to the last with content */
	unsigned runs, bytes, raws;
	struct packed_run run[PACKED_CELLS_MAX];
	uint8_t text[PACKED_CELLS_MAX * 6];
	uint32_t raw[PACKED_CELLS_MAX]; /* texts that are no characters */
};

/* Begin with no cells. Returns the one place of this thread, where the one before is not any more. */
struct packing *packing_begin(uint64_t offset, bool wrapped);

/* Cells with ASCII without controls, and cells without content. */
void packing_ascii(struct packing *to, const uint8_t *ascii, unsigned count, uint32_t style);
void packing_blank(struct packing *to, unsigned count, uint32_t style);

/* A character of one or two columns, as UTF-8; none that joins another, and no control. */
void packing_character(
	struct packing *to, const uint8_t *utf8, unsigned size, unsigned width, uint32_t style);

/* One cell, and the second half of it if it is wide. */
void packing_cell(struct packing *to, struct cell cell);

/* All of a line. */
const struct packing *packing_line(const struct line *line);

/* A packed copy of a line, on the heap; NULL when memory is short. */
struct packed *packing_copy_of(const struct line *line);

/* Bytes that it takes packed. */
size_t packing_size(const struct packing *from);

/* Put together what has been packed; to: packing_size() bytes. */
void packing_copy(const struct packing *from, struct packed *to);
