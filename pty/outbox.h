/*
 * Output queue of a non-blocking descriptor: bytes that write(2) does not accept now wait in order.
 * The owner polls the descriptor and calls outbox_flush() when it is writable.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A queue; all zero is an empty one. */
struct outbox {
	uint8_t *bytes;                 /* queued: from start to length; NULL while empty */
	size_t start, length, capacity; /* bytes */
};

/* Number of queued bytes. */
size_t outbox_queued(const struct outbox *o);

/* Append bytes. Returns 0, or -ENOMEM and the queue is unchanged. */
int outbox_put(struct outbox *o, const void *bytes, size_t length);

/* Write queued bytes until fd would block. Returns bytes written or a negative errno. */
ssize_t outbox_flush(struct outbox *o, int fd);

/*
 * Write bytes until fd would block; nothing while the queue has bytes. Returns bytes written (the
 * caller may queue the rest with outbox_put()) or a negative errno.
 */
ssize_t outbox_write(struct outbox *o, int fd, const void *bytes, size_t length);

/* Discard the queue and free its memory. */
void outbox_drop(struct outbox *o);
