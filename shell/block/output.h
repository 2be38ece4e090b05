/*
 * The output of a block from the ring: raw, or as a terminal shows it: with or without colours, after CR and backspace,
 * with wrapped lines joined. The copy is made on the loop. Drawing takes up to some hundred milliseconds and needs only
 * the copy, so it may run on any thread.
 */
#pragma once

#include "shell/block/blocks.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_OUTPUT_MAX ((size_t)16 << 20) /* bytes of the ring per copy */

/* Limits of drawing. */
#define BLOCK_OUTPUT_WORK ((size_t)32 << 20)   /* cells touched */
#define BLOCK_OUTPUT_MEMORY ((size_t)64 << 20) /* bytes of the screen */
#define BLOCK_OUTPUT_TEXT ((size_t)16 << 20)   /* bytes of text after which no line is started */

/* How to show the output; BLOCK_BYTES: raw. */
enum block_format { BLOCK_TEXT, BLOCK_ANSI, BLOCK_BYTES };

/* A part of a block's output. */
struct block_output {
	char *text; /* owned by the caller; length bytes */
	size_t length;
	uint64_t from, to; /* its range, as offsets in the ring */
	uint64_t lost;     /* requested bytes that the ring has lost */
	unsigned cols;     /* of the terminal, as it is now */
	enum screen_unicode unicode;
};

/*
 * Copy the raw output in [from, to), limited to the block, to what the ring still has, and to BLOCK_OUTPUT_MAX bytes.
 * Continue at ret->to. Returns 0 or -ENOMEM.
 */
int block_output(const struct pane *p, const struct block *b, uint64_t from, uint64_t to,
	struct block_output *ret);

/*
 * Replace the raw bytes by what a terminal shows (BLOCK_BYTES: keep them). If a limit stops it early, o->to moves to
 * where to continue. Pure. Returns 0, or -ENOMEM with o unchanged.
 */
int block_output_draw(struct block_output *o, enum block_format format);
