/* The client's queue of what to send on a connection: a request's body, or messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message or one piece of a body; owned by its queue. */
struct outgoing {
	struct outgoing *prev, *next;
	size_t length, sent;
	bool binary;
	uint8_t bytes[]; /* LWS_PRE, then length */
};

/* Zero is an empty queue. */
struct outgoing_queue {
	struct outgoing *first;
	size_t bytes; /* of all messages */
};

/* Append a copy of bytes (NULL: the caller fills them in). Returns false when memory is short. */
bool outgoing_put(struct outgoing_queue *q, bool binary, const void *bytes, size_t length);

/* Remove the first. */
void outgoing_drop(struct outgoing_queue *q);
