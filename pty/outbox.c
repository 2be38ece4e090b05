/* See outbox.h. A failed write leaves the queue as it is; the owner decides what to do. */
#include "pty/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPACITY_MIN ((size_t)4096)

size_t outbox_queued(const struct outbox *o)
{
	return o->length - o->start;
}

/* Make space for more bytes at the end; queued bytes move to the front. */
static int reserve(struct outbox *o, size_t more)
{
	size_t left = outbox_queued(o), capacity = CAPACITY_MIN;
	if (o->capacity - o->length >= more)
		return 0;
	while (capacity < left + more)
		capacity *= 2;
	uint8_t *bytes = malloc(capacity);
	if (!bytes)
		return -ENOMEM;
	if (left > 0)
		memcpy(bytes, o->bytes + o->start, left);
	free(o->bytes);
	o->bytes = bytes;
	o->start = 0;
	o->length = left;
	o->capacity = capacity;
	return 0;
}

int outbox_put(struct outbox *o, const void *bytes, size_t length)
{
	int rc = reserve(o, length);
	if (rc < 0 || length == 0)
		return rc;
	memcpy(o->bytes + o->length, bytes, length);
	o->length += length;
	return 0;
}

static ssize_t write_some(int fd, const uint8_t *bytes, size_t length)
{
	size_t done = 0;
	while (done < length) {
		ssize_t n = write(fd, bytes + done, length - done);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

ssize_t outbox_flush(struct outbox *o, int fd)
{
	if (outbox_queued(o) == 0)
		return 0;
	ssize_t n = write_some(fd, o->bytes + o->start, outbox_queued(o));
	if (n > 0)
		o->start += (size_t)n;
	if (outbox_queued(o) == 0)
		outbox_drop(o);
	return n;
}

ssize_t outbox_write(struct outbox *o, int fd, const void *bytes, size_t length)
{
	return outbox_queued(o) > 0 ? 0 : write_some(fd, bytes, length);
}

void outbox_drop(struct outbox *o)
{
	free(o->bytes);
	*o = (struct outbox){0};
}
