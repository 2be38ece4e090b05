/*
 * Bytes on their way to a descriptor that does not block: what it takes at once is written, the rest waits, in order, and
 * goes when there is room. The owner watches the descriptor, and says when it may be written to. Pure but for
 * write(2).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero is an empty one. */
struct outbox {
	uint8_t *bytes;                 /* that wait, from start to length */
	size_t start, length, capacity; /* bytes; there is no memory while nothing waits */
};

/* Bytes that wait. */
size_t outbox_queued(const struct outbox *o);

/* Let bytes wait behind the others. Returns 0 or -ENOMEM, and nothing has happened. */
int outbox_put(struct outbox *o, const void *bytes, size_t length);

/*
 * Write what fd takes of what waits. Returns bytes taken, or a negative errno when it takes none any more.
 */
ssize_t outbox_flush(struct outbox *o, int fd);

/*
 * Write what fd takes of bytes, unless others wait. Returns bytes taken, the others are for outbox_put(); or a
 * negative errno, as outbox_flush().
 */
ssize_t outbox_write(struct outbox *o, int fd, const void *bytes, size_t length);

/* Forget what waits. */
void outbox_drop(struct outbox *o);
