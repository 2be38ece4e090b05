/*
 * Output of a program on its way to a client that reads as fast as it likes: pieces of two streams in the
 * order in which they came, in bounded memory. What there is no room for is left out and counted, in its
 * place among the pieces. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that wait, with their pieces. More comes only when the kernel's buffers are emptied at a program's end. */
#define OUTPUT_QUEUE_MAX ((size_t)4 << 20)
#define OUTPUT_QUEUE_HIGH ((size_t)256 << 10) /* the program should wait, */
#define OUTPUT_QUEUE_LOW ((size_t)64 << 10)   /* and may go on */
#define OUTPUT_PIECE_MAX ((size_t)32 << 10)   /* bytes */
#define OUTPUT_STREAMS 2u

struct output_piece {
	struct output_piece *next;
	unsigned stream;
	uint64_t dropped; /* then it has no bytes, but stands for so many */
	size_t length, capacity;
	uint8_t bytes[];
};

/* Zero is an empty one. */
struct output_queue {
	struct output_piece *first, *last;
	size_t size;                      /* of all pieces */
	bool full;                        /* until it has become half empty */
	uint64_t dropped[OUTPUT_STREAMS]; /* after the last piece */
};

/* Put bytes of a stream at the end. */
void output_queue_put(struct output_queue *q, unsigned stream, const void *bytes, size_t length);

/* Take the next piece, to be freed with free(); NULL when there is none, or memory is short. */
struct output_piece *output_queue_take(struct output_queue *q);

/* Throw away what it has. */
void output_queue_finish(struct output_queue *q);
