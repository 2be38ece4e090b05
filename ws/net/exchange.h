/* What the files of HTTP share: one request and its answer. */
#pragma once

#include "ws/net/internal.h"

struct exchange {
	struct exchange *prev, *next; /* of its server */
	struct server *server;
	struct lws *wsi;
	struct request *request; /* our reference */
	char *origin;            /* a page of a configured origin asks; owned; NULL = none */
	bool wants_body;
	size_t body_size; /* bytes of body that were announced and have room */
	bool discard; /* the body is too large: it is read, for the client's sake, and refused */
	bool close_after; /* the connection cannot be used again */
	bool head_only;   /* HEAD */
	bool options;     /* OPTIONS */
	bool http_1_0;
	bool answered, streaming;
	bool head_sent;
	size_t sent; /* of the body, or of the event */
	char *event; /* being sent */
	size_t event_length;
	bool event_is_last;
	bool over;                 /* the last event has been sent */
	bool quiet;                /* the stream's reader is to be told that it goes on */
	unsigned silent;           /* sweeps since something was sent */
	const struct asset *asset; /* instead of a reply */
};

/* Whether this is a stream of HTTP/2. */
bool exchange_is_mux(const struct exchange *x);

/* Write a piece of length bytes. Returns bytes written, or -1 when the connection is lost. */
long exchange_send(struct exchange *x, const char *bytes, size_t length, bool final);

/* The exchange is over: free it, and make the connection ready for the next. Returns the callback's result. */
int exchange_finish(struct lws *wsi, struct connection *c);

/* stream.c: the answer is a stream of events; it has ended, or its peer has; more of it may be sent. */
void stream_open(struct exchange *x);
void stream_gone(struct exchange *x);
int stream_send(struct exchange *x, struct connection *c);
