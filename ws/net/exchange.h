/* What the files of HTTP share: one request and its answer. */
#pragma once

#include "ws/net/chunked.h"
#include "ws/net/internal.h"

struct exchange {
	struct exchange *prev, *next; /* of its server */
	struct server *server;
	struct caller *caller;   /* the connection */
	struct request *request; /* our reference */
	char *origin;            /* a page of a configured origin asks; owned; NULL = none */
	bool wants_body;
	size_t body_size;       /* bytes of body that were announced, or that have come in chunks */
	size_t body_got;        /* of those */
	uint64_t body_since_ms; /* loop time when the first could come, or those that are looked at now */
	uint64_t body_since_got; /* bytes that had come then */
	bool in_chunks;          /* its length is not announced */
	struct chunked chunks;
	bool is_upload;           /* the handler takes it as it comes */
	bool expects;             /* the client waits for leave to send it */
	size_t room;              /* taken from the server's for bodies */
	struct quota_place place; /* of those who came by a link, for that */
	bool anonymous;           /* taken from that for requests without credentials */
	size_t unread;            /* bytes of a body that follow the head, and that nobody wants */
	bool close_after;         /* the connection cannot be used again */
	bool hang_up;             /* it shall not be */
	bool head_only;           /* HEAD */
	bool options;             /* OPTIONS */
	bool http_1_0;
	bool strict;                           /* it came by TLS to a name that is no loopback's */
	bool answered, streaming, downloading; /* the last: answered as well */
	uint64_t answered_ms;                  /* loop time */
	bool head_sent;
	size_t sent; /* of the body, or of the event */
	uint64_t sent_total;
	char *event; /* being sent */
	size_t event_length;
	const char *piece; /* of a download, being sent; its source's */
	size_t piece_length;
	uint64_t pulled_ms; /* loop time since which it is looked at whether the download is taken, */
	uint64_t pulled_sent; /* and sent_total then */
	bool event_is_last;
	bool over;                 /* the last event has been sent */
	bool quiet;                /* the stream's reader is to be told that it goes on */
	unsigned silent;           /* sweeps since something was sent */
	unsigned cut;              /* sweeps since its stream was cut off */
	const struct asset *asset; /* instead of a reply */
};

/* A new one for a request that has come by this connection; NULL when memory is short. */
struct exchange *exchange_create(struct caller *c);

/* The exchange is over, or its peer has gone. */
void exchange_free(struct exchange *x);

/*
 * Decide about a request whose head has come: it is answered, handed to the API, or wants_body is set.
 * h: what it holds is taken, and freed. problem: of head_take().
 */
void exchange_begin(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem);

/*
 * Decide about a request whose head has come and which goes to a program: whether it may. Otherwise it has been answered.
 * h: as of exchange_begin().
 */
bool exchange_admit(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem);

/* Refuse a body, and the connection with it. */
void exchange_refuse_body(struct exchange *x, const char *code);

/* Hand the request to its handler. */
void exchange_dispatch(struct exchange *x);

/* The headers of an answer: add() for each until it returns false. */
typedef bool (*exchange_add_header)(void *user, const char *name, const char *value);
bool exchange_headers(const struct exchange *x, exchange_add_header add, void *user);
int exchange_status(const struct exchange *x);
/* Whether the answer has a Content-Length: of 204 there is none, of 304 it would be that of 200. */
bool exchange_tells_length(const struct exchange *x);
/* How long the answer's body is: 0 for HEAD. */
size_t exchange_length(const struct exchange *x);
/* What Content-Length says of it. */
uint64_t exchange_told_length(const struct exchange *x);

/* exchange_body.c: how a body that is wanted is taken, once exchange_begin() has decided so. */

/* Make room for a body of this length, or for one in chunks. Returns a refusal's code. */
const char *exchange_body_expect(struct exchange *x, size_t length);
/* Give the room back. */
void exchange_body_release(struct exchange *x);

/* A body of a known length that is kept: where the next bytes go, and how many there may be. */
char *exchange_body_room(struct exchange *x, size_t *ret_room);
/* So many have been put there. Returns whether the body is whole: then it has been handed on. */
bool exchange_body_add(struct exchange *x, size_t length);

/* Whether it is read in pieces, which is for exchange_body_take(): in chunks, or as an upload. */
bool exchange_body_in_pieces(const struct exchange *x);
/* Whether more of it may be read now. An upload may be paused, also behind its last byte. */
bool exchange_body_is_due(const struct exchange *x);
/* How many bytes may be read at once: no more than HTTP_HEAD_MAX of them are behind its end. 0: only its end is to be told. */
size_t exchange_body_most(const struct exchange *x);
/*
 * Take bytes that have come; they are written to. *ret_used: how many of them were the body's, all but at its end. Then, or
 * when it has been refused, wants_body is false; there may be none, where only its end had to be told.
 */
void exchange_body_take(struct exchange *x, char *bytes, size_t length, size_t *ret_used);

/* Whether it comes too slowly; asked once a second. */
bool exchange_body_is_slow(struct exchange *x);

/* stream.c: the answer is a stream of events; it has ended, or its peer has. */
void stream_open(struct exchange *x);
void stream_gone(struct exchange *x);
/* Find what is to be sent next: it is in x->event. Returns 1, 0 when there is nothing, or -1. */
int stream_next(struct exchange *x);
/* What stream_next() found has been sent. */
void stream_sent(struct exchange *x);
/* Ends slow bodies too. */
void stream_sweep(struct server *s);
