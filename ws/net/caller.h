/*
 * A connection from accept() on: TLS, then HTTP/1.1, one request at a time. A connection that becomes a WebSocket is handed
 * over to libwebsockets (handover.h).
 */
#pragma once

#include "ws/net/internal.h"

#include <openssl/types.h>

/* See the diagram in README.md. */
enum caller_state {
	CALLER_SILENT,    /* accepted; no byte has come */
	CALLER_HANDSHAKE, /* of TLS */
	CALLER_HEAD,      /* waits for a request's head, or for the rest of it */
	CALLER_BODY,      /* receives a request's body */
	CALLER_ANSWER,    /* waits for the answer, or sends it */
	CALLER_RELAY,     /* is connected to a program or to libwebsockets, see relay.h */
	CALLER_LINGER,    /* all is sent; input is thrown away until the peer closes */
	CALLER_OVER,      /* closed or handed over; is freed in the next turn */
};

/* A connection; heap, owned by its server's list. */
struct conn {
	struct conn *prev, *next;             /* of its server */
	struct conn *ready_prev, *ready_next; /* of the connections to call in the next turn */
	bool ready;                           /* is in that list */
	struct server *server;
	struct arrival arrival;
	enum caller_state state;
	int fd;           /* -1 = none */
	SSL *ssl;         /* NULL = no TLS, or not yet */
	uint32_t watched; /* events of epoll */
	bool polled;      /* is in the epoll set */
	bool served;      /* a request has come */
	bool at_end;      /* the peer has shut down its sending side */
	char peer[LIMITER_PEER_MAX];
	struct peer *stranger;    /* counts as unauthenticated there; NULL = authenticated */
	struct quota_place place; /* of the last request's principal */
	uint64_t since_ms;        /* loop time when the state, or the head, began */
	uint64_t limit_ms;        /* how long the state may last; 0 = no limit here */
	char *in;                 /* received and not consumed: in_length of in_size bytes; owned */
	size_t in_length, in_size;
	char *out; /* to send before the body of the answer; owned */
	size_t out_length, out_sent;
	size_t skip;               /* bytes of an unwanted body in front of the next head */
	size_t drained;            /* bytes read in CALLER_LINGER */
	uint64_t lingers_ms;       /* loop time when CALLER_LINGER began */
	struct exchange *exchange; /* the current request; NULL = none */
	struct relay *relay;       /* of CALLER_RELAY */
};

/* Prepare the epoll set of a server's connections. Returns 0 or a negative errno, which has been logged. */
int callers_open(struct server *s);

/* Drop all connections, and close the epoll set. */
void callers_close(struct server *s);

/* Free them. Call it after the handles have closed and libwebsockets is destroyed. */
void callers_free(struct server *s);

/* Number of connections that libwebsockets does not count. */
unsigned callers_count(const struct server *s);

/* Begin with a connection that has been accepted. fd is taken. */
void caller_accept(struct server *s, const struct listener *from, enum arrival_by by, int fd);

/*
 * A request on c has authenticated p: c no longer counts as unauthenticated, but for p's quota. Returns false if p has too many
 * connections.
 */
bool caller_known(struct conn *c, const struct principal *p);

/* Drop connections that have exceeded a time limit. */
void callers_sweep(struct server *s);

/* Read decrypted bytes. Returns their number, 0 if it would block, -ENOTCONN at the end, or another negative errno. */
long caller_read(struct conn *c, void *bytes, size_t size);

/* Write bytes, encrypted if c has TLS. Returns as caller_read(). */
long caller_write(struct conn *c, const void *bytes, size_t length);

/* Read more into c->in. Returns as caller_read(), and -ENOBUFS if HTTP_HEAD_MAX bytes are in it. */
long caller_fill(struct conn *c);

/* Remove the first bytes of c->in. */
void caller_consume(struct conn *c, size_t length);

/* Put bytes that were read back into c->in, which is empty; at most HTTP_HEAD_MAX. Returns 0 or -ENOMEM. */
int caller_unread(struct conn *c, const char *bytes, size_t length);

/* Change the state. limit_ms: how long it may last; 0 = no limit. */
void caller_move(struct conn *c, enum caller_state state, uint64_t limit_ms);

/* Set the events to wait for: EPOLLIN, EPOLLOUT, EPOLLRDHUP. */
void caller_watch(struct conn *c, uint32_t events);

/* Call http1_turn() in the next turn of the loop. */
void caller_wake(struct conn *c);

/* Remove c from the epoll set. */
void caller_unwatch(struct conn *c);

/* Free what c owns, but not its descriptor. c itself is freed in the next turn. */
void caller_retire(struct conn *c);

/* Close the connection at once. c itself is freed in the next turn. */
void caller_drop(struct conn *c);

/* Shut down the sending side (close_notify, FIN). */
void caller_shut(struct conn *c);

/* Shut down the sending side, wait until the peer has read what was sent, then close. */
void caller_linger(struct conn *c);

/* http1.c: bytes can be read in CALLER_HEAD or CALLER_BODY. */
void http1_readable(struct conn *c);

/* http1.c: continue after caller_wake(). */
void http1_turn(struct conn *c);

/* http1.c: wait for the first request. */
void http1_begin(struct conn *c);

/* http1.c: the peer has shut down its sending side. Send harmless bytes, if there are any, to test whether it still reads. */
void http1_probe(struct conn *c);
