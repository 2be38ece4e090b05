/*
 * Output of a program for a client that may be slow: pieces of two streams in order, in bounded memory. If the queue is
 * full, bytes are dropped; a piece counts them. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximal size of the queue. Only the kernel's buffers, read at a program's end, exceed OUTPUT_QUEUE_HIGH. */
#define OUTPUT_QUEUE_MAX ((size_t)4 << 20)
#define OUTPUT_QUEUE_HIGH ((size_t)256 << 10) /* pause the program */
#define OUTPUT_QUEUE_LOW ((size_t)64 << 10)   /* resume it */
#define OUTPUT_PIECE_MAX ((size_t)32 << 10)   /* bytes */
#define OUTPUT_STREAMS 2u

/* Bytes of one stream, or a number of dropped ones. */
struct output_piece {
	struct output_piece *next;
	unsigned stream;
	uint64_t dropped; /* 0, or the number of dropped bytes: then length is 0 */
	size_t length, capacity;
	uint8_t bytes[];
};

/* A zeroed queue is empty. */
struct output_queue {
	struct output_piece *first, *last;
	size_t size;                      /* bytes of all pieces with their headers */
	bool full;                        /* drop bytes until the queue is half empty */
	uint64_t dropped[OUTPUT_STREAMS]; /* after the last piece */
};

/* Append bytes of a stream. */
void output_queue_put(struct output_queue *q, unsigned stream, const void *bytes, size_t length);

/* Remove the first piece, which the caller frees with free(); NULL when there is none or memory is short. */
struct output_piece *output_queue_take(struct output_queue *q);

/* Free all pieces. */
void output_queue_finish(struct output_queue *q);
