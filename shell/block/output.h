/*
 * The output of a block, from the ring: as it was, or as a terminal shows it: colours gone or kept, what a CR or a
 * backspace has overwritten gone, lines that were wrapped whole again.
 */
#pragma once

#include "shell/block/blocks.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_OUTPUT_MAX ((size_t)16 << 20) /* bytes of the ring that are drawn at once */

enum block_format { BLOCK_TEXT, BLOCK_ANSI, BLOCK_BYTES };

struct block_output {
	char *text; /* owned by the caller; length bytes */
	size_t length;
	uint64_t from, to; /* what it is of, as offsets in the ring */
	uint64_t lost;     /* bytes of what was asked for that the ring does not have any more */
};

/*
 * The output in [from, to), as far as it is the block's, there, and no more than BLOCK_OUTPUT_MAX from its
 * beginning: ret->to says where to go on. Returns 0 or -ENOMEM.
 */
int block_output(const struct pane *p, const struct block *b, enum block_format format,
	uint64_t from, uint64_t to, struct block_output *ret);
