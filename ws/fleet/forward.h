/*
 * Forwards a request to another node of the fleet, and gives that node's answer as the request's own: a reply, a stream of
 * events, or a download. Bodies and answers of any length pass with the memory of one piece.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/fleet/node_call.h"
#include "ws/request.h"

/* Answers up to this many bytes are sent whole, so that an error can still be reported instead. */
#define FORWARD_WHOLE_MAX ((size_t)256 << 10)
/* The same for clients that take no downloads: the control socket, MCP. */
#define FORWARD_REPLY_MAX ((size_t)64 << 20)
#define FORWARD_QUEUE_MAX ((size_t)256 << 10) /* bytes of events that wait for their client */

/* What a forward needs. All is borrowed for the forward's life. */
struct forward_options {
	struct node_calls *calls;
	const struct auth *auth;
	const char *own; /* name of this node */
	/*
	 * The node has answered that it does not have the object: it is at `owner`, or "" if that is unknown. The request is not
	 * answered, and the forward is over.
	 */
	void (*misdirected)(void *user, const char *owner);
	/* The node cannot be reached; not for bodies in pieces. The request is not answered, and the forward is over. */
	void (*unreachable)(void *user, const char *node);
	/* The forward is over; the request has been answered, or its client has gone. */
	void (*over)(void *user);
	void *user;
};

struct forward;

/* A node to forward to; borrowed for the call. */
struct forward_to {
	const char *node, *url; /* url: without "/" at the end */
	bool chosen;            /* it is to make what the request is about */
};

/*
 * Forward r, whose reference the forward holds. Sets r->gone. May answer r from inside. Returns NULL after it has answered r with
 * an error and called nothing.
 */
struct forward *forward_begin(
	const struct forward_options *options, struct request *r, const struct forward_to *to);

/*
 * The node does not live any more: answer with NODE_LOST, or end what has begun, as soon as it has been sent. Returns whether f
 * is over, and freed.
 */
bool forward_lose(struct forward *f);

/* The server ends: let go of the request, whose answer stays incomplete. Calls over(). */
void forward_cancel(struct forward *f);

/* The node of a forward. */
const char *forward_node(const struct forward *f);
