/*
 * A connection from accept() on: TLS, then HTTP/1.1, one request at a time. A connection that becomes a WebSocket is handed
 * over to libwebsockets (handover.h).
 */
#pragma once

#include "ws/net/internal.h"

#include <openssl/types.h>

/* See the diagram in README.md. */
enum conn_state {
	CONN_SILENT,    /* accepted; no byte has come */
	CONN_HANDSHAKE, /* of TLS */
	CONN_HEAD,      /* waits for a request's head, or for the rest of it */
	CONN_BODY,      /* receives a request's body */
	CONN_ANSWER,    /* waits for the answer, or sends it */
	CONN_RELAY,     /* is connected to a program or to libwebsockets, see relay.h */
	CONN_LINGER,    /* all is sent; input is thrown away until the peer closes */
	CONN_OVER,      /* closed or handed over; is freed in the next turn */
};

/* A connection; heap, owned by its server's list. */
struct conn {
	struct conn *prev, *next;             /* of its server */
	struct conn *woken_prev, *woken_next; /* in the list of conn_wake() */
	bool woken;                           /* is in that list */
	struct server *server;
	struct arrival arrival;
	enum conn_state state;
	int fd;           /* -1 = none */
	SSL *ssl;         /* NULL = no TLS, or not yet */
	uint32_t watched; /* events of epoll */
	bool polled;      /* is in the epoll set */
	bool served;      /* a request has come */
	bool leaves;      /* it is described for the next server, see takeover.h */
	bool clear; /* it lacks TLS, which is required: its request is answered with an error */
	bool busy;  /* beyond a limit of connections: its request is answered with 503 */
	bool peer_shut_down; /* the peer has shut down its sending side */
	char peer[LIMITER_PEER_MAX];
	struct peer *unauthenticated; /* the address that counts it as such; NULL = authenticated */
	struct quota_place place;     /* of the last request's principal */
	uint64_t since_ms;            /* loop time when the state, or the head, began */
	uint64_t limit_ms;            /* how long the state may last; 0 = no limit here */
	char *in; /* bytes received and not consumed: in_length of in_size; owned */
	size_t in_length, in_size;
	char *out; /* to send before the body of the answer; owned */
	size_t out_length, out_sent;
	bool close_after;         /* of an answer without an exchange, see http1_send_rest() */
	size_t excess;            /* bytes of a head that is too large that have been discarded */
	bool is_browser;          /* that head is a browser's */
	size_t skip;              /* bytes of an unwanted body in front of the next head */
	size_t discarded;         /* bytes read in CONN_LINGER */
	uint64_t linger_since_ms; /* loop time when CONN_LINGER began; since_ms is the last input */
	struct exchange *exchange; /* the current request; NULL = none */
	struct relay *relay;       /* of CONN_RELAY */
};

/* Prepare the epoll set of a server's connections. Returns 0 or a negative errno, which has been logged. */
int conns_open(struct server *s);

/* Drop all connections, and close the epoll set. */
void conns_close(struct server *s);

/* Free the set and what is left of its connections. Call it after the handles have closed and libwebsockets is destroyed. */
void conns_free(struct server *s);

/* Number of connections that libwebsockets does not count, without busy ones. */
unsigned conns_count(const struct server *s);

/*
 * Begin to serve an accepted connection. fd is taken. by: what is known of the process at the other end. full: too many
 * connections are open.
 */
void conn_accept(
	struct server *s, const struct listener *from, enum conn_trust by, bool full, int fd);

/*
 * Make a connection of one that another server has accepted. fd is taken unless NULL is returned: memory is short, or the peer
 * has reset it. authenticated: it does not count as unauthenticated. The caller sets the rest, then calls conn_continue().
 */
struct conn *conn_restore(
	struct server *s, const struct arrival *arrival, bool authenticated, int fd);

/* Go on with a restored connection in this state: CONN_SILENT, CONN_HEAD or CONN_LINGER. */
void conn_continue(struct conn *c, enum conn_state state);

/* The first of all connections, or NULL; c->next is the next one. */
struct conn *conns_first(const struct server *s);

/* Read from connections again whose bytes were left unread while the server was held. */
void conns_resume(struct server *s);

/*
 * A request on c has authenticated p. From now on c counts for the quota of p instead of as unauthenticated. Returns false if
 * p has too many connections.
 */
bool conn_set_principal(struct conn *c, const struct principal *p);

/* Time for a head to be complete, in ms. */
uint64_t conn_head_within_ms(const struct conn *c);

/* Drop connections that have exceeded a time limit. */
void conns_sweep(struct server *s);

/* What a step of reading from a connection, or of writing to it, has come to. */
enum conn_step {
	CONN_STEP_FAILED,  /* the connection is lost, or memory is short */
	CONN_STEP_BLOCKED, /* the rest has to wait, for the peer or for more of the answer */
	CONN_STEP_MORE,    /* there may be more to do at once */
	CONN_STEP_DONE,    /* the answer has been sent */
};

/* conn_bytes.c: read decrypted bytes. Returns their number, 0 if it would block, -ENOTCONN at the end, or another negative errno. */
long conn_read(struct conn *c, void *bytes, size_t size);

/* Write bytes, encrypted if c has TLS. Returns as conn_read(). */
long conn_write(struct conn *c, const void *bytes, size_t length);

/* Read more into c->in. Returns as conn_read(), and -ENOBUFS if HTTP_HEAD_MAX bytes are in it. */
long conn_fill(struct conn *c);

/* Remove the first bytes of c->in. */
void conn_consume(struct conn *c, size_t length);

/* Put bytes that were read back into c->in, which is empty; at most HTTP_HEAD_MAX. Returns 0 or -ENOMEM. */
int conn_unread(struct conn *c, const char *bytes, size_t length);

/* conn.c: change the state. limit_ms: how long it may last; 0 = no limit. */
void conn_set_state(struct conn *c, enum conn_state state, uint64_t limit_ms);

/* Set the events to wait for: EPOLLIN, EPOLLOUT, EPOLLRDHUP. */
void conn_watch(struct conn *c, uint32_t events);

/* Call http1_turn() in the next turn of the loop. */
void conn_wake(struct conn *c);

/* Remove c from the epoll set. */
void conn_unwatch(struct conn *c);

/* Free what c owns, but not its descriptor. c itself is freed in the next turn. */
void conn_retire(struct conn *c);

/* Close the connection at once. c itself is freed in the next turn. */
void conn_drop(struct conn *c);

/* Shut down the sending side (close_notify, FIN). */
void conn_shutdown(struct conn *c);

/* Shut down the sending side, wait until the peer has read what was sent, then close. */
void conn_linger(struct conn *c);

/* http1.c: bytes can be read in CONN_HEAD or CONN_BODY. */
void http1_readable(struct conn *c);

/* http1.c: continue after conn_wake(). */
void http1_turn(struct conn *c);

/* http1_refuse.c: the head in CONN_HEAD comes too slowly. Answer with 408, or drop c if it waits for a request. */
void http1_refuse_late(struct conn *c);

/* http1.c: wait for the first request. */
void http1_begin(struct conn *c);

/* http1.c: the peer has shut down its sending side. Send harmless bytes, if there are any, to test whether it still reads. */
void http1_probe(struct conn *c);
