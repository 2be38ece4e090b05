/*
 * The socket at /rpc: the Sandbox SDK's calls, by capnweb, each of which is a request to the dispatcher as over HTTP.
 *
 * Memory is bounded whatever the peer does: by the engine's limits (ws/rpc/engine.h), and by streams, whose events are
 * pulled when they can be sent. What ends the engine's session closes the socket with 1008, after an `abort` that says why.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

#define RPC_MESSAGE_MAX ((size_t)16 << 20) /* bytes of a message, as many as the container takes */
#define RPC_TURN_MAX ((size_t)256 << 10)   /* bytes that are sent before others have their turn */

struct rpc_socket;

/* All of them. */
struct rpc_sockets {
	struct dispatcher *dispatcher; /* borrowed, like all here */
	struct metrics *metrics;
	struct rpc_socket *list;
	uint8_t *scratch; /* headroom and one frame */
};

int rpc_sockets_open(
	struct rpc_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics);
void rpc_sockets_close(struct rpc_sockets *all);

/*
 * Begin, after the upgrade. The transport's memory must live until closed() of rpc_socket_protocol. Returns NULL when
 * memory is short.
 */
struct rpc_socket *rpc_socket_open(struct rpc_sockets *all, const struct principal *principal,
	const char *peer, const struct frames_transport *transport, void *transport_user);

/* What the transport calls, with what rpc_socket_open() returned. */
extern const struct frames_protocol rpc_socket_protocol;

/* Once a second: keep streams alive that have been silent for quiet_s, and end what expired by now_ms. */
void rpc_sockets_sweep(struct rpc_sockets *all, unsigned quiet_s, uint64_t now_ms);
