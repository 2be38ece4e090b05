/* What the files of HTTP share: one request and its answer. */
#pragma once

#include "ws/net/internal.h"

/* What an exchange comes by: a connection of HTTP/1.1, or a stream of HTTP/2. */
struct exchange_carrier {
	void (*wake)(struct exchange *x); /* there is something to be sent */
	void (*kill)(struct exchange *x); /* end it at once; x may be gone afterwards */
	int (*fd)(const struct exchange *x);
};

struct exchange {
	struct exchange *prev, *next; /* of its server */
	struct server *server;
	const struct exchange_carrier *carrier;
	struct lws *wsi;         /* HTTP/2: the stream; otherwise NULL */
	struct caller *caller;   /* HTTP/1.1: the connection; otherwise NULL */
	struct request *request; /* our reference */
	char *origin;            /* a page of a configured origin asks; owned; NULL = none */
	bool wants_body;
	size_t body_size;         /* bytes of body that were announced */
	size_t body_got;          /* of those */
	uint64_t body_since_ms;   /* loop time when the first could come */
	size_t room;              /* taken from the server's for bodies */
	struct quota_place place; /* of those who came by a link, for that */
	bool anonymous;           /* taken from that for requests without credentials */
	const char *refusal;      /* the code, when the body's end has come; NULL = none */
	bool discard;             /* the body is read, for the client's sake, and not kept */
	size_t unread;            /* bytes of a body that follow the head, and that nobody wants */
	bool close_after;         /* the connection cannot be used again */
	bool head_only;           /* HEAD */
	bool options;             /* OPTIONS */
	bool http_1_0;
	bool strict; /* it came by TLS to a name that is no loopback's */
	bool answered, streaming;
	uint64_t answered_ms; /* loop time */
	bool head_sent;
	size_t sent; /* of the body, or of the event */
	uint64_t sent_total;
	char *event; /* being sent */
	size_t event_length;
	bool event_is_last;
	bool over;                 /* the last event has been sent */
	bool quiet;                /* the stream's reader is to be told that it goes on */
	unsigned silent;           /* sweeps since something was sent */
	unsigned cut;              /* sweeps since its stream was cut off */
	const struct asset *asset; /* instead of a reply */
};

/* A new one for a request that has come; NULL when memory is short. Then wsi or caller is to be set. */
struct exchange *exchange_create(struct server *s, const struct exchange_carrier *carrier);

/* The exchange is over, or its peer has gone. */
void exchange_free(struct exchange *x);

/*
 * Decide about a request whose head has come: it is answered, handed to the API, or wants_body is set.
 * h: what it holds is taken, and freed. problem: of head_read() or head_take().
 */
void exchange_begin(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem);

/* Where the next bytes of the body go, and how many there may be. */
char *exchange_body_room(struct exchange *x, size_t *ret_room);
/* So many have been put there. Returns whether the body is whole: then it has been handed on. */
bool exchange_body_add(struct exchange *x, size_t length);

/* Whether this is a stream of HTTP/2. */
bool exchange_is_mux(const struct exchange *x);

/* The file descriptor under it. */
int exchange_fd(const struct exchange *x);

/* Whether its body comes too slowly. */
bool exchange_is_slow(const struct exchange *x);

/* End the connection, or the stream, at once. x may be gone afterwards. */
void exchange_kill(struct exchange *x);

/* The headers of an answer, whatever it goes by: add() for each until it returns false. */
typedef bool (*exchange_add_header)(void *user, const char *name, const char *value);
bool exchange_headers(const struct exchange *x, exchange_add_header add, void *user);
int exchange_status(const struct exchange *x);
/* Whether the answer has a Content-Length: of 204 there is none, of 304 it would be that of 200. */
bool exchange_tells_length(const struct exchange *x);
/* How long the answer's body is: 0 for HEAD. */
size_t exchange_length(const struct exchange *x);

/* stream.c: the answer is a stream of events; it has ended, or its peer has. */
void stream_open(struct exchange *x);
void stream_gone(struct exchange *x);
/* Find what is to be sent next: it is in x->event. Returns 1, 0 when there is nothing, or -1. */
int stream_next(struct exchange *x);
/* What stream_next() found has been sent. */
void stream_sent(struct exchange *x);
/* Ends slow bodies too. */
void stream_sweep(struct server *s);
