/* Each message has LWS_PRE bytes in front, for libwebsockets. */
#include "ws/net/outgoing.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

bool outgoing_put(struct outgoing_queue *q, bool binary, const void *bytes, size_t length)
{
	struct outgoing *o = malloc(sizeof *o + LWS_PRE + length);
	if (!o)
		return false;
	*o = (struct outgoing){.length = length, .binary = binary};
	if (bytes)
		memcpy(o->bytes + LWS_PRE, bytes, length);
	DL_APPEND(q->first, o);
	q->bytes += length;
	return true;
}

void outgoing_drop(struct outgoing_queue *q)
{
	struct outgoing *o = q->first;
	DL_DELETE(q->first, o);
	q->bytes -= o->length;
	free(o);
}
