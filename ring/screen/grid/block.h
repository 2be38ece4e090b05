/*
 * Blocks: packed lines next to each other, compressed. What is alike in them lies together: first what they are, then
 * their runs, then their text.
 */
#pragma once

#include "ring/screen/grid/packed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_BYTES \
	((size_t)64 << 10) /* of packed lines in a block, at most; half as many take 12 % more */

struct block {
	uint32_t entries; /* each of which may stand for many lines that are the same */
	uint32_t stored;  /* bytes of their lines, packed and aligned, as they are read */
	uint32_t coded;   /* bytes before they were compressed */
	uint32_t size;    /* of what follows */
	uint8_t bytes[];
};

/* A block that is being made. */
struct block_writer;

struct block_writer *block_writer_create(void); /* NULL when memory is short */
void block_writer_destroy(struct block_writer *w);

/* Add a line that comes `times` times. Returns false when there is no room for it. */
bool block_writer_add(struct block_writer *w, const struct packed *p, uint32_t times);

/* Make a block of what has been added, on the heap, and begin anew. Returns NULL when memory is short. */
struct block *block_writer_finish(struct block_writer *w);

/* A line of a block. */
struct block_line {
	uint32_t at;  /* in the bytes */
	uint32_t end; /* how many lines there are up to its last */
};

/* A block that has been read. */
struct block_lines {
	uint32_t count;
	size_t memory; /* bytes that all of it takes */
	struct block_line *line;
	_Alignas(struct packed) uint8_t bytes[];
};

struct block_reader;

struct block_reader *block_reader_create(void); /* NULL when memory is short */
void block_reader_destroy(struct block_reader *r);

/* Read a block. Returns 0, to be freed; -ENOMEM; or -EBADMSG when it is damaged. */
int block_read(struct block_reader *r, const struct block *b, struct block_lines **ret_lines);

/*
 * The same of bytes that are not compressed: they may be any, and so may the lines be then, but for how long they are.
 * entries, stored: as in struct block.
 */
int block_decode(const uint8_t *bytes, size_t length, uint32_t entries, uint32_t stored,
	struct block_lines **ret_lines);
