/*
 * A client for the command line: HTTP requests and WebSockets to a server, by libwebsockets on a libuv loop. Each request has
 * its own connection.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* Where the server is. All is borrowed for the client's life. */
struct client_target {
	const char *socket; /* path of a unix socket; NULL: host and port */
	const char *host;
	unsigned port;
	bool tls;
	const char *prefix; /* in front of all paths, such as "/term"; NULL = none */
	const char *token;  /* sent as a bearer token; NULL = none */
};

struct client;

/* Returns 0 or a negative errno. *ret_client is owned by the caller (client_close). */
int client_open(uv_loop_t *loop, const struct client_target *target, struct client **ret_client);

/*
 * Cancel all requests and sockets without callbacks, and free c. NULL is allowed. Runs the loop until all its handles are
 * closed: the caller's handles must be closing.
 */
void client_close(struct client *c);

/* A request; all is copied. */
struct client_request {
	const char *method;
	const char *path; /* with its query, encoded */
	const char *body; /* length bytes; NULL = none */
	size_t length;
	const char *accept; /* Accept; NULL = none */
	bool streamed;      /* the body comes by client_call_send(); body is NULL */
};

struct client_call;

/* Callbacks of a request. None is called from inside client_request(). */
struct client_call_callbacks {
	/* The answer's head has come. content_type: "" = none. */
	void (*head)(void *user, int status, const char *content_type);
	/* A piece of the answer's body. */
	void (*body)(void *user, const void *bytes, size_t length);
	/* Of a streamed body: all pieces have been sent, send the next. Not called after head(). */
	void (*writable)(void *user);
	/*
	 * The request is over; the call is freed afterwards. error: 0 = the answer is complete, -ECONNREFUSED = nothing of the
	 * request was sent, -ECONNRESET = the connection was lost.
	 */
	void (*done)(void *user, int error);
};

/* Begin a request. Returns 0 or a negative errno; after an error no callback comes. */
int client_request(struct client *c, const struct client_request *request,
	const struct client_call_callbacks *callbacks, void *user, struct client_call **ret_call);

/*
 * Send the next piece of a streamed body after writable(); length 0 ends the body. Bytes are copied, and dropped once the
 * answer's head has come. Returns false when memory is short.
 */
bool client_call_send(struct client_call *call, const void *bytes, size_t length);

/* Copy a header of the answer; only inside head(). name: lower case, with its colon. value: "" if it is absent. */
void client_call_header(struct client_call *call, const char *name, char *value, size_t size);

/* Close the connection and free the call. No callback comes afterwards. */
void client_call_cancel(struct client_call *call);

struct client_socket;

/* Callbacks of a WebSocket. binary and drained may be NULL. */
struct client_socket_callbacks {
	/* The server has accepted the handshake. */
	void (*opened)(void *user);
	/* A whole text; NUL-terminated. */
	void (*text)(void *user, const char *text, size_t length);
	/* A piece of a binary message. */
	void (*binary)(void *user, const void *bytes, size_t length);
	/* Everything that was queued has been sent. */
	void (*drained)(void *user);
	/*
	 * The socket is over and freed afterwards. code: the server's close code; 0 = the connection was lost; -STATUS = the
	 * handshake was refused with this HTTP status; -1 = no answer.
	 */
	void (*closed)(void *user, int code, const char *reason);
};

/* Begin to open a WebSocket. Returns 0 or a negative errno; after an error no callback comes. */
int client_socket_open(struct client *c, const char *path,
	const struct client_socket_callbacks *callbacks, void *user,
	struct client_socket **ret_socket);

/* Queue a message. Returns false when memory is short. */
bool client_socket_send(struct client_socket *k, bool binary, const void *bytes, size_t length);

/* Number of bytes that are queued. */
size_t client_socket_queued(const struct client_socket *k);

/* Close and free it. No callback comes afterwards. Queued messages may be lost. */
void client_socket_close(struct client_socket *k);
