/*
 * The other end: HTTP requests and WebSockets to a server, by libwebsockets on a libuv loop. Each request
 * has a connection of its own.
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
 * End all that is under way, without callbacks, and free it. NULL is allowed. Turns the loop until all its
 * handles are closed: those of the caller must be closing.
 */
void client_close(struct client *c);

/* A request; all is copied. */
struct client_request {
	const char *method;
	const char *path; /* with its query, encoded */
	const char *body; /* length bytes; NULL = none */
	size_t length;
	const char *accept; /* Accept; NULL = none */
	bool streamed; /* its body, of any size, is what client_call_send() is given; body is NULL */
};

struct client_call;

/* Never called from inside client_request(). */
struct client_call_callbacks {
	/* The answer's head has come. content_type: "" = none. */
	void (*head)(void *user, int status, const char *content_type);
	/* A piece of its body. */
	void (*body)(void *user, const void *bytes, size_t length);
	/* Streamed: what was given has been sent, and more is wanted. Not once the head has come. */
	void (*writable)(void *user);
	/*
	 * It is over: 0 when the answer is complete, -ECONNREFUSED when nothing of the request was sent, otherwise
	 * -ECONNRESET. The call is freed afterwards.
	 */
	void (*done)(void *user, int error);
};

/* Begin a request. Returns 0 or a negative errno; then nothing is called. */
int client_request(struct client *c, const struct client_request *request,
	const struct client_call_callbacks *callbacks, void *user, struct client_call **ret_call);

/*
 * Send the next piece of a streamed body, once writable() has come; length 0 is its end. It is copied. What is given after
 * the answer's head goes nowhere. Returns false when memory is short.
 */
bool client_call_send(struct client_call *call, const void *bytes, size_t length);

/* A header of the answer, asked for inside head(). name: lower case, with its colon. "" when it is absent. */
void client_call_header(struct client_call *call, const char *name, char *value, size_t size);

/* Give it up: the connection is closed, nothing is called any more. */
void client_call_cancel(struct client_call *call);

struct client_socket;

/* binary and drained may be NULL: they are not wanted. */
struct client_socket_callbacks {
	void (*opened)(void *user);
	/* A whole text; NUL-terminated. */
	void (*text)(void *user, const char *text, size_t length);
	/* Bytes of a binary message, as they come. */
	void (*binary)(void *user, const void *bytes, size_t length);
	/* Everything that was queued has been sent. */
	void (*drained)(void *user);
	/*
	 * It is over; freed afterwards. code: the server's close code; 0 when the connection was lost;
	 * -STATUS when it was refused with this HTTP status, -1 when there was no answer.
	 */
	void (*closed)(void *user, int code, const char *reason);
};

/* Begin to open a WebSocket. Returns 0 or a negative errno; then nothing is called. */
int client_socket_open(struct client *c, const char *path,
	const struct client_socket_callbacks *callbacks, void *user,
	struct client_socket **ret_socket);

/* Queue a message. Returns false when memory is short. */
bool client_socket_send(struct client_socket *k, bool binary, const void *bytes, size_t length);

/* Bytes that wait to be sent. */
size_t client_socket_queued(const struct client_socket *k);

/* Close it; nothing is called any more. What is queued may be lost. */
void client_socket_close(struct client_socket *k);
