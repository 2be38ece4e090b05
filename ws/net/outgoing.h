/* A queue of what a client sends on a connection: the body of a request, or messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message or one piece of a body; owned by its queue. */
struct outgoing {
	struct outgoing *prev, *next;
	size_t length, sent;
	size_t size; /* bytes that it has memory for */
	bool binary;
	uint8_t bytes[]; /* LWS_PRE, then length */
};

/* Zero is an empty queue. */
struct outgoing_queue {
	struct outgoing *first;
	size_t bytes; /* of all messages */
	size_t count;
};

/* Append a copy of bytes (NULL: the caller fills them in). Returns false when memory is short. */
bool outgoing_put(struct outgoing_queue *q, bool binary, const void *bytes, size_t length);

/* The same for a piece of a stream of binary messages, which may be joined to the last one. */
bool outgoing_put_piece(struct outgoing_queue *q, const void *bytes, size_t length);

/* Memory of the queue in bytes, about. */
size_t outgoing_held(const struct outgoing_queue *q);

/* Remove the first. */
void outgoing_drop(struct outgoing_queue *q);
