/* Each message has LWS_PRE bytes in front, for libwebsockets. */
#include "ws/net/outgoing.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define PIECE_SIZE ((size_t)2 << 10) /* least memory of a piece, so that small ones are joined */

/* Append a message without bytes. Returns NULL when memory is short. */
static struct outgoing *add(struct outgoing_queue *q, bool binary, size_t size)
{
	struct outgoing *o = malloc(sizeof *o + LWS_PRE + size);
	if (!o)
		return NULL;
	*o = (struct outgoing){.size = size, .binary = binary};
	DL_APPEND(q->first, o);
	q->count++;
	return o;
}

bool outgoing_put(struct outgoing_queue *q, bool binary, const void *bytes, size_t length)
{
	struct outgoing *o = add(q, binary, length);
	if (!o)
		return false;
	if (bytes)
		memcpy(o->bytes + LWS_PRE, bytes, length);
	o->length = length;
	q->bytes += length;
	return true;
}

static bool fits(const struct outgoing *o, size_t length)
{
	return o->binary && o->size - o->length >= length;
}

bool outgoing_put_piece(struct outgoing_queue *q, const void *bytes, size_t length)
{
	struct outgoing *last = q->first && fits(q->first->prev, length)
		? q->first->prev
		: add(q, true, length > PIECE_SIZE ? length : PIECE_SIZE);
	if (!last)
		return false;
	memcpy(last->bytes + LWS_PRE + last->length, bytes, length);
	last->length += length;
	q->bytes += length;
	return true;
}

size_t outgoing_held(const struct outgoing_queue *q)
{
	return q->bytes + q->count * (sizeof(struct outgoing) + LWS_PRE);
}

void outgoing_drop(struct outgoing_queue *q)
{
	struct outgoing *o = q->first;
	DL_DELETE(q->first, o);
	q->bytes -= o->length;
	q->count--;
	free(o);
}
