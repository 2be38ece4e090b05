/*
 * The WebSocket at /rpc: capnweb for the Sandbox SDK. Each call becomes a request to the
 * dispatcher, as over HTTP.
 *
 * The memory for a peer is bounded: by the limits of the engine (ws/rpc/engine.h), and because
 * events are pulled from streams only when they can be sent. An aborted session sends its `abort`
 * message and closes the socket with code 1008.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

#define RPC_MESSAGE_MAX \
	((size_t)16 << 20)               /* bytes of a message, the same limit as the container's */
#define RPC_TURN_MAX ((size_t)256 << 10) /* bytes to send before returning to the loop */

/* One connection. */
struct rpc_socket;

/* All connections. */
struct rpc_sockets {
	struct dispatcher *dispatcher; /* borrowed, as all pointers here */
	struct metrics *metrics;
	struct rpc_socket *list;
	uint8_t *scratch; /* headroom and one frame */
};

/* Returns 0 or -ENOMEM. */
int rpc_sockets_open(
	struct rpc_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics);

/* Free the shared buffer. All sockets must be closed. */
void rpc_sockets_close(struct rpc_sockets *all);

/*
 * Begin after the upgrade. The transport must live until closed() of rpc_socket_protocol. Returns
 * NULL if memory is short.
 */
struct rpc_socket *rpc_socket_open(struct rpc_sockets *all, const struct principal *principal,
	const char *peer, const struct frames_transport *transport, void *transport_user);

/* The functions that the transport calls with the result of rpc_socket_open(). */
extern const struct frames_protocol rpc_socket_protocol;

/* Once a second: keepalives on streams silent for quiet_s. */
void rpc_sockets_sweep(struct rpc_sockets *all, unsigned quiet_s);
