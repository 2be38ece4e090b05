/* Pieces of output in order. Bytes of the same stream are appended to the last piece while it has space. */
#include "ws/api/later/output_queue.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN ((size_t)1024)

static struct output_piece *piece_create(unsigned stream, size_t capacity)
{
	struct output_piece *p = malloc(sizeof *p + capacity);
	if (p)
		*p = (struct output_piece){.stream = stream, .capacity = capacity};
	return p;
}

static size_t piece_size(const struct output_piece *p)
{
	return sizeof *p + p->capacity;
}

static void append_piece(struct output_queue *q, struct output_piece *p)
{
	if (q->last)
		q->last->next = p;
	else
		q->first = p;
	q->last = p;
	q->size += piece_size(p);
}

/* Append pieces that stand for the dropped bytes. Returns false when memory is short. */
static bool append_dropped(struct output_queue *q)
{
	for (unsigned i = 0; i < OUTPUT_STREAMS; i++) {
		if (q->dropped[i] == 0)
			continue;
		struct output_piece *p = piece_create(i, 0);
		if (!p)
			return false;
		p->dropped = q->dropped[i];
		q->dropped[i] = 0;
		append_piece(q, p);
	}
	return true;
}

/* The last piece if it has space for this stream, or a new one; NULL when the queue is full or memory is short. */
static struct output_piece *piece_with_space(struct output_queue *q, unsigned stream, size_t length)
{
	struct output_piece *last = q->last;
	if (last && last->stream == stream && last->length < last->capacity)
		return last;
	size_t capacity = length < CAPACITY_MIN ? CAPACITY_MIN : length;
	if (capacity > OUTPUT_PIECE_MAX)
		capacity = OUTPUT_PIECE_MAX;
	if (q->size + sizeof *last + capacity > OUTPUT_QUEUE_MAX)
		return NULL;
	struct output_piece *p = piece_create(stream, capacity);
	if (p)
		append_piece(q, p);
	return p;
}

void output_queue_put(struct output_queue *q, unsigned stream, const void *bytes, size_t length)
{
	const uint8_t *src = bytes;
	if (q->full && q->size <= OUTPUT_QUEUE_MAX / 2)
		q->full = !append_dropped(q);
	while (length > 0 && !q->full) {
		struct output_piece *p = piece_with_space(q, stream, length);
		if (!p) {
			q->full = true;
			break;
		}
		size_t n = p->capacity - p->length;
		n = n < length ? n : length;
		memcpy(p->bytes + p->length, src, n);
		p->length += n;
		src += n;
		length -= n;
	}
	q->dropped[stream] += length;
}

struct output_piece *output_queue_take(struct output_queue *q)
{
	if (!q->first)
		append_dropped(q);
	struct output_piece *p = q->first;
	if (!p)
		return NULL;
	q->first = p->next;
	if (!q->first)
		q->last = NULL;
	q->size -= piece_size(p);
	return p;
}

void output_queue_finish(struct output_queue *q)
{
	for (struct output_piece *p = q->first, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	*q = (struct output_queue){0};
}
