/*
 * A WebSocket to another node of a fleet, whose frames pass to and from a client of this server: a protocol for the client's
 * transport, which connects to the node.
 *
 * When the client takes nothing, the node is not read, so that it sees how slow the client is: about 64 KiB are held here, and
 * as much in the kernel. The client cannot be paused; it is closed when NODE_LINK_QUEUE_MAX bytes of it wait for the node.
 */
#pragma once

#include "ws/socket/frames.h"

#include <uv.h>

struct node_sockets;

/* Create the sockets of a server. ca: a PEM file of trusted certificates; NULL: the system's; borrowed. NULL: it failed. */
struct node_sockets *node_sockets_open(uv_loop_t *loop, const char *ca);

/*
 * Begin to close: connections to nodes end, and transports that remain are not used any more. The loop must run before
 * node_sockets_free(). NULL is fine.
 */
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
	 * The node does not answer. Returns whether something else is done for the client; then closed() of the protocol is called,
	 * perhaps from inside, and what the client has sent is lost. Not called from inside of node_socket_open(). NULL: nothing is done.
	 */
	bool (*unreachable)(void *user);
	void *user;
};

/* Connect. The transport is not called from inside, except for want(). Returns NULL when memory is short. */
struct node_socket *node_socket_open(
	struct node_sockets *all, const struct node_socket_options *options);

/* The node does not live any more: close the client. */
void node_socket_lose(struct node_socket *k);

/* Calls of the client's transport; self is the struct node_socket, which closed() frees. */
extern const struct frames_protocol node_socket_protocol;
