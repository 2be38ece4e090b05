/*
 * WebSockets of this server to other nodes, by libwebsockets. The context is the server's second one, because options of the
 * first one are wrong for clients: certificates are checked, and time limits are short.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define NODE_LINK_CONNECT_MS 3000u            /* for a connection and its TLS handshake */
#define NODE_LINK_ANSWER_MS 5000u             /* the same until the node has answered */
#define NODE_LINK_PING_MS 15000u              /* of silence until the node is pinged */
#define NODE_LINK_LOST_MS 25000u              /* of silence until the node is lost */
#define NODE_LINK_CLOSE_MS 5000u              /* to send what waits when a link is closed */
#define NODE_LINK_TEXT_MAX ((size_t)16 << 20) /* bytes of a text of the node */
#define NODE_LINK_QUEUE_MAX \
	(((size_t)1 << 20) + ((size_t)64 << 10)) /* bytes that wait for the node */
#define NODE_LINK_REASON_MAX 123u

/* libwebsockets' context, and all links. */
struct node_links;

/* Create it. ca: a PEM file of trusted certificates; NULL: the system's; borrowed. Returns 0 or a negative errno. */
int node_links_open(uv_loop_t *loop, const char *ca, struct node_links **ret_links);

/* Begin to close: all links are freed, without callbacks. The loop must run before node_links_free(). */
void node_links_close(struct node_links *all);

/* Free it. The loop must run once more. */
void node_links_free(struct node_links *all);

/* Why a link has ended. */
struct node_link_end {
	bool open;       /* it was open */
	unsigned status; /* the HTTP status by which the node has refused it; 0: none */
	unsigned code;   /* of the node's close frame; 0: none. Ours, if the node broke a limit */
	char reason[NODE_LINK_REASON_MAX + 1];
};

struct node_link_callbacks {
	/* Bytes of a message. last: it ends with them; then they may be none. */
	void (*piece)(void *user, bool binary, const void *bytes, size_t length, bool last);
	/* The link has ended, and is freed. */
	void (*ended)(void *user, const struct node_link_end *end);
};

/* What to connect to. Texts are borrowed for the call. */
struct node_link_options {
	const char *url, *target, *token; /* as of struct node_socket_options */
	const struct node_link_callbacks *callbacks;
	void *user;
};

struct node_link;

/*
 * Connect. No callback comes from inside. Returns 0, -EINVAL for an invalid URL, -E2BIG for a target that is too long, or -ENOMEM.
 */
int node_link_open(
	struct node_links *all, const struct node_link_options *o, struct node_link **ret_link);

/* Whether the node has accepted it. */
bool node_link_is_open(const struct node_link *l);

/* Send a message; pieces of binary messages may be joined. Returns 0, -ENOBUFS if too much waits already, or -ENOMEM. */
int node_link_send(struct node_link *l, bool binary, const void *bytes, size_t length);

/* Whether to stop reading the node; at most one piece comes afterwards. */
void node_link_pause(struct node_link *l, bool paused);

/* Close it when what waits is sent. No callback comes any more; it is freed later. */
void node_link_close(struct node_link *l, unsigned code, const char *reason);

/* End the connection at once. No callback comes any more. */
void node_link_drop(struct node_link *l);
