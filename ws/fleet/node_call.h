/*
 * HTTP requests to other nodes of a fleet, by libcurl on the loop. Connections are kept open and used again.
 *
 * A piece of an answer that is not taken pauses the transfer, and of a body one piece is held, so that answers and bodies of
 * any length cost little memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define NODE_CALL_CONNECT_MS 3000             /* to connect, with TLS */
#define NODE_CALL_IDLE_MAX 256                /* connections that are kept */
#define NODE_CALL_HEAD_MAX ((size_t)64 << 10) /* bytes of the head of an answer */
#define NODE_CALL_UNKNOWN UINT64_MAX          /* stream_length */

struct node_calls;

/* Create the calls of a server. ca: a PEM file of trusted certificates; NULL: the system's; borrowed. NULL: out of memory. */
struct node_calls *node_calls_open(uv_loop_t *loop, const char *ca);

/* Cancel all calls without callbacks. The memory is freed when the loop has closed the handles. NULL is fine. */
void node_calls_close(struct node_calls *all);

/* A header of a request. */
struct node_call_header {
	const char *name, *value;
};

/* A request; borrowed for the call. */
struct node_call_request {
	const char *method, *url; /* url: complete and encoded */
	const struct node_call_header *headers;
	size_t headers_count;
	const char *body; /* length bytes, copied; NULL: none */
	size_t length;
	bool streamed;          /* the body comes by node_call_send() */
	uint64_t stream_length; /* its length, or NODE_CALL_UNKNOWN */
	unsigned silence_ms;    /* limit of the time without a byte; 0: none */
};

struct node_call;

/* None is called from inside a function of this file, except piece() from node_call_resume(). */
struct node_call_callbacks {
	/* The head of the answer has come. */
	void (*head)(void *user, int status);
	/* The next bytes of the answer. Returns false to get them again after node_call_resume(). */
	bool (*piece)(void *user, const char *bytes, size_t length);
	/* Of a streamed body: the piece has been sent. */
	void (*writable)(void *user);
	/*
	 * The call is over, and freed afterwards. error: 0; -ECONNREFUSED: nothing of the request was sent; -EACCES: the node's
	 * certificate is not trusted; -ECONNRESET: the connection was lost; -ENOMEM.
	 */
	void (*done)(void *user, int error);
};

/* Begin a request. callbacks: a literal. Returns 0, -EINVAL (a header has a line end), or -ENOMEM. */
int node_call_begin(struct node_calls *all, const struct node_call_request *request,
	const struct node_call_callbacks *callbacks, void *user, struct node_call **ret_call);

/* A header of the answer, after head(); NULL: it has none. Borrowed of the call. */
const char *node_call_header(const struct node_call *c, const char *name);

/* Take pieces again. */
void node_call_resume(struct node_call *c);

/* Send a piece of a streamed body, copied, after the last one has been sent; length 0 ends the body. Returns false when memory is short. */
bool node_call_send(struct node_call *c, const char *bytes, size_t length);

/* End a call without callbacks; allowed from inside its callbacks. */
void node_call_cancel(struct node_call *c);
