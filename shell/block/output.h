/*
 * The output of a block, from the ring: as it was, or as a terminal shows it: colours gone or kept, what a CR or a
 * backspace has overwritten gone, lines that were wrapped whole again.
 *
 * It is copied where the ring is read. To draw it takes up to some hundred milliseconds, whatever it is, and nothing but
 * the copy: that may be done by any thread.
 */
#pragma once

#include "shell/block/blocks.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_OUTPUT_MAX ((size_t)16 << 20) /* bytes of the ring that are copied at once */

/* Drawing goes no further when it has touched so many cells, or takes so many bytes, or its text is so long. */
#define BLOCK_OUTPUT_WORK ((size_t)32 << 20)
#define BLOCK_OUTPUT_MEMORY ((size_t)64 << 20)
#define BLOCK_OUTPUT_TEXT ((size_t)16 << 20) /* behind which no other line is begun */

enum block_format { BLOCK_TEXT, BLOCK_ANSI, BLOCK_BYTES };

struct block_output {
	char *text; /* owned by the caller; length bytes */
	size_t length;
	uint64_t from, to; /* what it is of, as offsets in the ring */
	uint64_t lost;     /* bytes of what was asked for that the ring does not have any more */
	unsigned cols;     /* of the terminal, as it is now */
	enum screen_unicode unicode;
};

/*
 * The output in [from, to) as it was, as far as it is the block's, there, and no more than BLOCK_OUTPUT_MAX from its
 * beginning: ret->to says where to go on. Returns 0 or -ENOMEM.
 */
int block_output(const struct pane *p, const struct block *b, uint64_t from, uint64_t to,
	struct block_output *ret);

/*
 * Put what a terminal shows of it in the place of its bytes (BLOCK_BYTES: leave them). Where the limits end that before
 * o->to, that is where to go on from then. Pure. Returns 0 or -ENOMEM, and o is as it was.
 */
int block_output_draw(struct block_output *o, enum block_format format);
