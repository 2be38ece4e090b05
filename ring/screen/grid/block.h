/*
 * Blocks: packed lines, compressed together. Similar data is stored together: all headers, then all
 * runs, then all text.
 */
#pragma once

#include "ring/screen/grid/packed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of packed lines in a block. With half of that, blocks take 12 % more memory. */
#define BLOCK_BYTES ((size_t)64 << 10)

/* A compressed block. Freed with free(). */
struct block {
	uint32_t entries; /* distinct lines; each may be repeated */
	uint32_t stored;  /* bytes of the packed lines, aligned, after reading */
	uint32_t coded;   /* bytes before compression */
	uint32_t size;    /* compressed bytes that follow */
	uint8_t bytes[];
};

/* Builds blocks. */
struct block_writer;

/* Returns NULL if memory is short. */
struct block_writer *block_writer_create(void);

/* Destroy a writer; NULL is allowed. */
void block_writer_destroy(struct block_writer *w);

/* Add a line that is repeated `times` times. Returns false if it does not fit. */
bool block_writer_add(struct block_writer *w, const struct packed *p, uint32_t times);

/* Make an owned block of the added lines, and start anew. Returns NULL if memory is short. */
struct block *block_writer_finish(struct block_writer *w);

/* A distinct line of a decompressed block. */
struct block_line {
	uint32_t at;  /* offset in `bytes` */
	uint32_t end; /* number of lines up to the last repetition of this one */
};

/* A decompressed block. Freed with free(). */
struct block_lines {
	uint32_t count;
	size_t memory; /* size of the allocation in bytes */
	struct block_line *line;
	_Alignas(struct packed) uint8_t bytes[];
};

/* Decompresses blocks. */
struct block_reader;

/* Returns NULL if memory is short. */
struct block_reader *block_reader_create(void);

/* Destroy a reader; NULL is allowed. */
void block_reader_destroy(struct block_reader *r);

/* Decompress a block into owned lines. Returns 0, -ENOMEM, or -EBADMSG if it is damaged. */
int block_read(struct block_reader *r, const struct block *b, struct block_lines **ret_lines);

/*
 * Decode the uncompressed form of a block. The bytes are not trusted; the resulting lines are valid
 * only in size. entries, stored: as in struct block.
 */
int block_decode(const uint8_t *bytes, size_t length, uint32_t entries, uint32_t stored,
	struct block_lines **ret_lines);
