/*
 * Connections from their first byte on: TLS, and HTTP a request at a time. One that becomes a WebSocket goes to libwebsockets
 * (handover.h).
 */
#pragma once

#include "ws/net/internal.h"

#include <openssl/types.h>

enum caller_state {
	CALLER_SILENT,    /* nothing has come */
	CALLER_HANDSHAKE, /* of TLS */
	CALLER_HEAD,      /* a request is awaited, or a part of it has come */
	CALLER_BODY,
	CALLER_ANSWER, /* is awaited, or being sent */
	CALLER_RELAY,  /* what comes goes on to a program, see relay.h */
	CALLER_LINGER, /* all is sent, and no more is served */
	CALLER_OVER,   /* waits to be freed */
};

struct caller {
	struct caller *prev, *next;             /* of its server */
	struct caller *ready_prev, *ready_next; /* of those that have something to do */
	bool ready;
	struct server *server;
	struct arrival arrival;
	enum caller_state state;
	int fd;           /* -1 = none */
	SSL *ssl;         /* NULL = no TLS, or not yet */
	uint32_t watched; /* events of epoll */
	bool polled;      /* it is in the set */
	bool served;      /* a request has come */
	bool at_end;      /* the peer sends no more */
	char peer[LIMITER_PEER_MAX];
	struct peer *stranger;    /* until it is known who asks; otherwise NULL */
	struct quota_place place; /* of who asked last */
	uint64_t since_ms;        /* loop time when the state, or the head, began */
	uint64_t limit_ms; /* how long that may last; 0 = for ever, or something else decides */
	char *in;          /* received, and not used; in_length of in_size bytes */
	size_t in_length, in_size;
	char *out; /* to be sent before the body of the answer; owned */
	size_t out_length, out_sent;
	size_t skip;         /* bytes of a body that nobody wants, in front of the next head */
	size_t drained;      /* read while lingering, */
	uint64_t lingers_ms; /* which began then; loop time */
	struct exchange *exchange; /* the request that is served */
	struct relay *relay;       /* of CALLER_RELAY */
};

int callers_open(struct server *s);
/* End all of them. */
void callers_close(struct server *s);
/* The loop has turned, and libwebsockets has ended. */
void callers_free(struct server *s);

/* Connections that libwebsockets knows nothing of. */
unsigned callers_count(const struct server *s);

/* A connection has been accepted: fd is taken. */
void caller_accept(struct server *s, const struct listener *from, enum arrival_by by, int fd);

/* It is known who asks. Returns whether there is a place for another connection of theirs. */
bool caller_known(struct caller *c, const struct principal *p);

/* End whoever has been too slow. */
void callers_sweep(struct server *s);

/* For http1.c: what is read and written. Bytes; 0 = would block; -ENOTCONN at the end; or another error. */
long caller_read(struct caller *c, void *bytes, size_t size);
long caller_write(struct caller *c, const void *bytes, size_t length);
/* Take more of what has come to c->in; the same results, and -ENOBUFS when that is full. */
long caller_fill(struct caller *c);
/* c->in without its first bytes. */
void caller_consume(struct caller *c, size_t length);
/* Bytes that have been read, at most HTTP_HEAD_MAX, become c->in, which is empty. Returns 0 or -ENOMEM. */
int caller_unread(struct caller *c, const char *bytes, size_t length);
/* The state changes; it may last for limit_ms (0: for ever). */
void caller_move(struct caller *c, enum caller_state state, uint64_t limit_ms);
/* Be told when one of these events has come: EPOLLIN, EPOLLOUT, EPOLLRDHUP. */
void caller_watch(struct caller *c, uint32_t events);
/* Call http1_turn() in the next turn of the loop. */
void caller_wake(struct caller *c);
/* It is not ours to watch any more. */
void caller_unwatch(struct caller *c);
/* It is nobody's connection any more: its exchange ends, and it is freed in the next turn. */
void caller_retire(struct caller *c);
/* End it at once. c lives until the next turn of the loop. */
void caller_drop(struct caller *c);
/* Tell the peer that no more is sent. */
void caller_shut(struct caller *c);
/* No more is served: let what has been sent reach the peer, then end. */
void caller_linger(struct caller *c);

/* http1.c: there is something to read; c->ready came true; a connection begins. */
void http1_readable(struct caller *c);
void http1_turn(struct caller *c);
void http1_begin(struct caller *c);
/* The peer sends no more: send what changes nothing to who waits for an answer, if there is such a thing. */
void http1_probe(struct caller *c);
