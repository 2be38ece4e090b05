/* One message of a holder's socket with the descriptors that came with it. */
#pragma once

#include "pty/wire.h"

#include <stddef.h>

/* Most descriptors accepted with one message: a newer holder may send more than WIRE_FDS. */
#define PACKET_FDS_MAX 16u

/* A received message. */
struct packet {
	struct wire_message message;
	int fds[PACKET_FDS_MAX]; /* owned by the receiver; see packet_close_fds() */
	size_t count;            /* of fds */
};

/*
 * Receive the next message without blocking. Returns 0, -EAGAIN when there is none, -ECONNRESET at
 * the end, -EPROTO when it is malformed, truncated, or has too many descriptors (only a newer
 * version may send longer messages with more descriptors), or another negative errno. On error no
 * descriptor stays open.
 */
int packet_receive(int fd, struct packet *ret);

/* Close fds[first] and those after it. */
void packet_close_fds(struct packet *p, size_t first);
