/*
 * One message of a holder's socket, with the descriptors that come with it. What is not whole is refused as a whole, and
 * nothing of it stays open.
 */
#pragma once

#include "pty/wire.h"

#include <stddef.h>

/* Descriptors that one message may bring: a newer holder may send more than we know. */
#define PACKET_FDS_MAX 16u

struct packet {
	struct wire_message message;
	int fds[PACKET_FDS_MAX]; /* the receiver's */
	size_t count;            /* of them */
};

/*
 * Receive the next one. Returns 0, -EAGAIN when there is none, -ECONNRESET at the end, -EPROTO when it is no message, is
 * cut short, or has more than may come with it; longer ones, with more descriptors, only a newer version may send.
 */
int packet_receive(int fd, struct packet *ret);

/* Close its descriptors, from the first-th on. */
void packet_close(struct packet *p, size_t first);
