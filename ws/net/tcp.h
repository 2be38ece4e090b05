/* What the kernel knows about a connection's socket, and options of it. Unix sockets are permitted; they lack most of this. */
#pragma once

#include "ws/auth/limiter.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the peer is dead, provided that there is something to send: its kernel has acknowledged nothing for minutes. The
 * kernel of a peer that merely does not read acknowledges window probes.
 */
bool tcp_is_dead(int fd);

/* Bytes that were written and that the peer's kernel has not acknowledged. */
size_t tcp_unsent(int fd);

/* While the connection is idle, check every so many seconds whether the peer still has it. */
void tcp_probe_every(int fd, int seconds);

/* Let the kernel hold about so many received bytes. A peer then sees soon that they are not read. */
void tcp_limit_received(int fd, int bytes);

/* Whether the peer sends nothing any more. What it has sent may not be read yet. */
bool tcp_peer_has_ended(int fd);

/* Make close() reset the connection, so that the peer does not take its end for the end of the answer. */
void tcp_reset_on_close(int fd);

/*
 * Write the peer's address for the limits and the log; of a unix socket "unix". Returns false if there is none, because the peer
 * reset the connection before accept(): what it sent could still be read, without any limit.
 */
bool tcp_peer_address(bool unix_socket, int fd, char peer[LIMITER_PEER_MAX]);
