/*
 * Previews over HTTP/1.1: forwards a request to a program that listens on this machine, and its answer to the peer, while they
 * come. Of each direction at most one piece is in memory: the next is read when it is written.
 *
 * Each request has its own connection to the program, and both heads are written anew, so that no request can smuggle another.
 * After 101 the connection is a tunnel. A tunnel also connects the peer of a WebSocket over TLS to libwebsockets.
 */
#pragma once

#include "ws/net/conn.h"
#include "ws/net/chunked.h"
#include "ws/preview/answer_head.h"
#include "ws/preview/pass.h"
#include "ws/preview/previews.h"

#define RELAY_CONNECT_MS 10000u /* for connect() to the program */
#define RELAY_HEAD_MS 300000u   /* for the program to begin its answer, while nothing else moves */
#define RELAY_BODY_MS 60000u    /* for the next byte of a request's body */
#define RELAY_STALL_MS 300000u  /* for either side to read what waits for it */
#define RELAY_INTERIM_MAX 16u   /* 1xx answers before the answer */
#define RELAY_DRAIN_MS 10000u   /* for the peer to read the rest of an ended WebSocket */

/* What the program's side is doing. */
enum relay_state {
	RELAY_CONNECTING,
	RELAY_HEAD,   /* waits for the answer's head, while the request is sent */
	RELAY_BODY,   /* receives the answer's body */
	RELAY_TUNNEL, /* moves bytes both ways */
};

/* How a request's body ends. */
enum relay_framing { RELAY_NONE, RELAY_LENGTH, RELAY_CHUNKED };

/* What could not be written yet. */
struct relay_rest {
	char *bytes; /* owned; NULL = nothing */
	size_t length, sent;
};

/* The connection to the program. It is freed when its handle has closed, after its relay. */
struct relay_up {
	uv_poll_t poll;
	struct relay *relay; /* NULL = freed */
	int fd;
	int watched; /* events of uv_poll */
	bool ready;  /* connected */
};

/* A relay. "in" is the direction from the peer to the program, "out" from the program to the peer. */
struct relay {
	struct conn *conn; /* to the peer */
	struct server *server;
	struct relay_up *up; /* to the program; NULL = closed */
	enum relay_state state;
	struct upgrade *socket; /* the WebSocket that it connects to its peer; NULL = none, or ended */
	bool inner;             /* it is of a WebSocket over TLS, not of a preview */
	struct preview_user user;
	struct claim *claim; /* of the principal, for /proxy/PORT; NULL = a preview by host */
	struct pass pass;
	char host[ORIGIN_TEXT_MAX]; /* of pass */
	char connection[512]; /* of pass: the field Connection of the request, then of the answer */
	bool v6;              /* ::1 is being tried, after 127.0.0.1 */
	bool head_only, upgrade, http_1_0, expects;
	bool close_after;      /* close the connection after the answer */
	bool page;             /* errors are sent as a page instead of JSON */
	enum relay_framing in; /* the request's body */
	uint64_t in_left;
	struct chunked in_chunks;
	bool in_over; /* the body has been read; of a tunnel: the peer has shut down its side */
	bool in_lost; /* the program does not read it any more */
	bool in_shut; /* the tunnel's end has been passed on to the program */
	enum answer_framing out;
	uint64_t out_left;
	struct chunked out_chunks;
	bool out_framed; /* the answer is sent chunked */
	bool out_over, out_shut;
	bool begun;                      /* a part of an answer has been written */
	char *head;                      /* the answer's head as far as it has come; owned */
	size_t head_length, head_looked; /* bytes of it; bytes searched for its end */
	unsigned interims;               /* 1xx answers so far */
	struct relay_rest up_rest, down_rest;
	uint64_t moved_ms; /* loop time when bytes last moved */
	uint64_t left_ms;  /* of inner: loop time when its WebSocket ended */
};

/* relay.c: whether a request is for a preview's host or for /proxy/. */
bool relay_is_wanted(const struct server *s, const struct http_head *http);

/* Whether a host is a preview's. */
bool relay_is_host(const struct server *s, const char *host);

/* Whether the request's Via shows that this server has forwarded it before. */
bool relay_is_loop(const struct server *s, const struct http_head *http);

/* Begin to forward a request, or answer with an error. The head has been removed from c->in. */
void relay_begin(struct conn *c, const struct http_head *http);

/*
 * Connect c to libwebsockets: fd, which is taken, gets what is decrypted, and what is read from it is encrypted. Sets
 * u->tunnel. Returns false on failure; then fd is closed.
 */
bool relay_tunnel(struct conn *c, int fd, struct upgrade *u);

/* The WebSocket of a tunnel has ended. What it has sent still goes to the peer, for at most RELAY_DRAIN_MS. */
void relay_socket_closed(struct relay *r);

/* Bytes on their way to the peer that its kernel has not acknowledged. */
size_t relay_unsent(const struct relay *r);

/* Move what can be moved. r may be freed afterwards. */
void relay_turn(struct relay *r);

/* epoll events of a connection in CONN_RELAY. */
void relay_on_conn(struct conn *c, uint32_t events);

/* Free the relay of c, if it has one, because c is retired or goes on without it. */
void relay_detach(struct conn *c);

/* Check the time limits. c may be dropped afterwards. */
void relay_check_timeouts(struct conn *c, uint64_t now_ms);

/* Answer with an error, or drop the connection if a part of an answer has been sent. r is freed afterwards. */
void relay_fail(struct relay *r, const char *code, const char *message);

/* Drop the connection. If only its end tells that the answer is complete, it is reset (RST). */
void relay_break(struct relay *r);

/* relay_up.c: use fd, which is connected and taken. Returns 0 or a negative errno; then fd is closed. */
int relay_adopt(struct relay *r, int fd);

/* Begin to connect to the program. Returns 0 or a negative errno. */
int relay_connect(struct relay *r);

/* Set the events to wait for: UV_READABLE, UV_WRITABLE. */
void relay_watch_up(struct relay *r, int events);

/* Close the connection to the program. */
void relay_close_up(struct relay *r);

/* Answer that connecting failed with error, a negative errno. r is freed afterwards. */
void relay_connect_failed(struct relay *r, int error);

/* relay_pump.c: move bytes to the program, at most *budget. Returns false if r has failed and is freed. */
bool relay_pump_up(struct relay *r, size_t *budget);

/* The same to the peer. */
bool relay_pump_down(struct relay *r, size_t *budget);

/* Write to the peer; the rest is kept. Returns 0 or a negative errno. */
int relay_send_down(struct relay *r, const char *bytes, size_t length);

/* Free what is kept. */
void relay_rest_free(struct relay_rest *rest);

/* relay_head.c: write the request for the program into up_rest. Returns false if it does not fit. */
bool relay_write_request(struct relay *r, const struct http_head *http, const char *target);

/*
 * Consume bytes of the answer's head. Returns 0 if it is incomplete, 1 when it has been passed on, or a negative errno.
 * *ret_rest, *ret_length: with 1, the bytes after it, borrowed of r.
 */
int relay_forward_head(
	struct relay *r, const char *bytes, size_t length, char **ret_rest, size_t *ret_length);
