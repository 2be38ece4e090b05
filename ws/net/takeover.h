/*
 * Replacing the server by its next program without a failed request. The server is held first: it accepts no connection and
 * reads no new request, while the requests that are being answered come to their end. Then its listening sockets and
 * connections are described in JSON, with what was read from them, and left open for the program that is executed.
 *
 * A request that waits is asked again there: a GET and a POST that only reads as they were, others if their handler knows a
 * request with the same answer (struct request_repeat). A connection with TLS cannot be handed over, as OpenSSL cannot
 * export its state; neither can WebSockets and event streams, whose clients reconnect.
 */
#pragma once

#include "ws/net/server.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct conn;

/* What is going on that the next server could not continue. */
struct takeover_work {
	unsigned requests;  /* that no other server can answer */
	unsigned uploads;   /* bodies that are received in pieces */
	unsigned downloads; /* answers that are pulled */
	unsigned answers;   /* answers that are being sent */
	unsigned previews;  /* requests that are forwarded to ports */
	unsigned strangers; /* any of these on connections without credentials, which cannot delay anything for long */
};

/* Stop accepting connections and reading requests; what comes waits in the kernel. */
void takeover_hold(struct server *s);

/* Undo takeover_hold(). */
void takeover_resume(struct server *s);

/* Count the work that began at least min_age_ms ago, without a request (NULL: none). */
void takeover_count(const struct server *s, uint64_t min_age_ms, const struct request *without,
	struct takeover_work *ret_work);

/* Sum of all but strangers. */
unsigned takeover_total(const struct takeover_work *work);

/* Begin to close all WebSockets. server_is_idle() tells when they are closed. */
void takeover_close_sockets(struct server *s);

/* Listening sockets and connections for the next server. */
struct takeover {
	json_t *json; /* what they are, as JSON; owned */
	char *bytes;  /* what was read from connections, or is to be sent on them; owned */
	size_t length, size;
	bool is_short; /* private: memory was short */
};

/*
 * Describe the listening sockets and the connections that can be handed over, which go on as before. Returns false when memory
 * is short; nothing is to be freed then.
 */
bool takeover_describe(struct server *s, struct takeover *ret);

/* Free what it owns. */
void takeover_finish(struct takeover *t);

/*
 * Leave what is described to the next program: it will inherit those descriptors, and this server does not use them any more. All
 * other connections are closed. Then call server_close().
 */
void takeover_leave(struct server *s, const struct takeover *t);

/* Make the descriptors ours: call it before any program is started. Those that are not open are removed. */
void takeover_claim(struct takeover *t);

/* Number of listening sockets that are described, at most SERVER_LISTENERS_MAX, written to `ret`. */
size_t takeover_sockets(const struct takeover *t, struct server_inherited *ret);

/* Nothing is continued, because the server is stopped at once: remove the files of sockets. */
void takeover_abandon(const struct takeover *t, const char *runtime_dir);

/* Go on with the connections that are described. Call it after server_open(). */
void takeover_begin(struct server *s, const struct takeover *t);

/* Whether c receives a body that the next server can receive instead. */
bool takeover_has_body(const struct conn *c);
