/*
 * A WebSocket to another node of a fleet, whose frames pass to and from a client of this server: a protocol for the client's
 * transport, which connects to the node by libwebsockets.
 *
 * When the client takes nothing, the node is not read, so that it sees how slow the client is. At most one message and one
 * piece of the node are held.
 */
#pragma once

#include "ws/socket/frames.h"

#include <uv.h>

#define NODE_SOCKET_CONNECT_S 3u                /* to connect */
#define NODE_SOCKET_TEXT_MAX ((size_t)16 << 20) /* bytes of a text of the node */
#define NODE_SOCKET_QUEUE_MAX \
	((size_t)1 << 20) + ((size_t)64 << 10) /* bytes of the client that wait for the node */

struct node_sockets;

/* Create the sockets of a server. ca: a PEM file of trusted certificates; NULL: the system's; borrowed. NULL: it failed. */
struct node_sockets *node_sockets_open(uv_loop_t *loop, const char *ca);

/* Begin to close; no socket is left. The loop must run before node_sockets_free(). NULL is fine. */
void node_sockets_close(struct node_sockets *all);

/* Free it; the loop must run once more. NULL is fine. */
void node_sockets_free(struct node_sockets *all);

struct node_socket;

/* What to connect to and for. Texts are borrowed for the call. */
struct node_socket_options {
	const char *url;                          /* the address of a node */
	const char *target;                       /* "/ws/pty?…" */
	const char *token;                        /* sent as "Authorization: Bearer" */
	const struct frames_transport *transport; /* lives until closed() of the protocol */
	void *transport_user;
	/*
	 * No connection can be made. Returns whether something else is done for the client; then closed() of the protocol is called,
	 * perhaps from inside, and what the client has sent is lost.
	 */
	bool (*unreachable)(void *user);
	void *user;
};

/* Connect. Returns NULL when memory is short. */
struct node_socket *node_socket_open(
	struct node_sockets *all, const struct node_socket_options *options);

/* The node does not live any more: close the client. */
void node_socket_lose(struct node_socket *k);

/* Calls of the client's transport; self is the struct node_socket, which closed() frees. */
extern const struct frames_protocol node_socket_protocol;
