/* What the client has to send over a connection: a request's body, or messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outgoing {
	struct outgoing *prev, *next;
	size_t length, sent;
	bool binary;
	uint8_t bytes[]; /* LWS_PRE, then length */
};

/* Zero is an empty one. */
struct outgoing_queue {
	struct outgoing *first;
	size_t bytes; /* of all of them */
};

/* Add a copy of bytes (NULL: the caller fills them in). Returns false when memory is short. */
bool outgoing_put(struct outgoing_queue *q, bool binary, const void *bytes, size_t length);

/* Forget the first. */
void outgoing_drop(struct outgoing_queue *q);
