/*
 * Previews by HTTP/1.1: a request that goes on to a program which listens on this machine, and its answer, both as they come.
 * What has not been written is held back where it comes from: of each direction one piece is in memory at most, and none while
 * nothing moves.
 *
 * Each request has a connection of its own to the program, and both heads are written anew, so that nobody's request can be
 * taken for a part of another's. A connection that the program makes something else of (101) is a tunnel from then on.
 */
#pragma once

#include "ws/net/caller.h"
#include "ws/net/chunked.h"
#include "ws/preview/answer_head.h"
#include "ws/preview/pass.h"
#include "ws/preview/previews.h"

#define RELAY_CONNECT_MS 10000u /* for the program's kernel to take a connection */
#define RELAY_HEAD_MS 300000u   /* for the program to begin its answer, while nothing else moves */
#define RELAY_BODY_MS 60000u    /* for the next byte of a request's body */
#define RELAY_STALL_MS 300000u  /* for somebody who does not take what there is for them */
#define RELAY_INTERIM_MAX 16u   /* answers of 1xx before the answer */
#define RELAY_LEFT_MS 10000u    /* for the peer to take what an ended WebSocket has left */

enum relay_state {
	RELAY_CONNECTING,
	RELAY_HEAD,   /* the answer's head is awaited; the request is sent meanwhile */
	RELAY_BODY,   /* the answer's body comes */
	RELAY_TUNNEL, /* anything, both ways */
	RELAY_OVER,
};

/* How the end of a request's body is told. */
enum relay_framing { RELAY_NONE, RELAY_LENGTH, RELAY_CHUNKED };

/* What could not be written yet. */
struct relay_rest {
	char *bytes; /* owned */
	size_t length, sent;
};

/* The connection to the program. It outlives the relay by the turn of the loop that closes its handle. */
struct relay_up {
	uv_poll_t poll;
	struct relay *relay; /* NULL: it has gone */
	int fd;
	int watched; /* of uv_poll */
	bool ready;  /* connected */
};

struct relay {
	struct caller *caller;
	struct server *server;
	struct relay_up *up; /* NULL: there is none any more */
	enum relay_state state;
	struct upgrade *socket; /* a WebSocket of ours that this connects to its peer; NULL = none */
	bool inner;             /* it is, or was, such a one */
	struct preview_user user;
	struct claim *claim; /* by the path form, of who asks; or NULL */
	struct pass pass;
	char host[ORIGIN_TEXT_MAX]; /* of pass */
	char connection[512];       /* of pass: of the request, then of the answer */
	bool v6;                    /* the second address is tried */
	bool head_only, upgrade, http_1_0, expects;
	bool close_after;      /* the connection is not used again */
	bool plain;            /* who asks reads text rather than JSON */
	enum relay_framing in; /* the request's body */
	uint64_t in_left;
	struct chunked in_chunks;
	bool in_over; /* all of it has been read; of a tunnel: the peer's end has come */
	bool in_lost; /* the program does not take it any more */
	bool in_shut; /* the program has been told of the end of a tunnel */
	enum answer_framing out;
	uint64_t out_left;
	struct chunked out_chunks;
	bool out_framed; /* the answer goes out in chunks */
	bool out_over, out_shut;
	bool begun;                      /* something of an answer has been written */
	char *head;                      /* of the answer, as far as it has come; owned */
	size_t head_length, head_looked; /* bytes of it in which no end was found */
	unsigned interims;
	struct relay_rest up_rest, down_rest;
	uint64_t moved_ms; /* loop time when anything moved */
	uint64_t left_ms;  /* of inner: when its WebSocket ended */
};

/* relay.c */

/* Whether a request is for a preview, or for a path below /proxy/. */
bool relay_is_wanted(const struct server *s, const struct http_head *http);
/* Whether a host is a preview's. */
bool relay_is_host(const struct server *s, const char *host);
/* Whether this server's own request has come back to it. */
bool relay_is_loop(const struct server *s, const struct http_head *http);

/* Begin, or answer why not. The head is not in c->in any more. */
void relay_begin(struct caller *c, const struct http_head *http);

/*
 * Connect c with a descriptor of this program, which is taken: what is decrypted goes there, and what comes from there is
 * encrypted. u->tunnel is it from then on. Returns whether that could be begun; otherwise fd is closed.
 */
bool relay_tunnel(struct caller *c, int fd, struct upgrade *u);
/* The WebSocket that r connects to its peer has ended: the connection is a caller's like others again, and not for long. */
void relay_left(struct relay *r);
/* Bytes on their way to the caller that its kernel has not acknowledged. */
size_t relay_unsent(const struct relay *r);

/* Move what can be moved; r may be gone afterwards. */
void relay_turn(struct relay *r);

/* The caller's connection is ready, or has something to do. */
void relay_on_caller(struct caller *c, uint32_t events);

/* The caller goes: so does the relay. */
void relay_gone(struct caller *c);

/* Look whether anything moves. c may be gone afterwards. */
void relay_look(struct caller *c, uint64_t now_ms);

/* End with an error, or without a word when something of an answer has been sent. r is gone afterwards. */
void relay_fail(struct relay *r, const char *code, const char *message);

/* It cannot go on. Where only the connection's end tells that the answer is whole, that does not look like one. */
void relay_break(struct relay *r);

/* The answer has been sent: on to the next request. r is gone afterwards. */
void relay_finish(struct relay *r);

/* relay_up.c */

/* A connection that is there already: fd is taken. Returns 0 or a negative errno; then fd is closed. */
int relay_adopt(struct relay *r, int fd);
/* Begin to connect. Returns 0, or a negative errno: nobody listens. */
int relay_connect(struct relay *r);
/* Be told when one of these is so: UV_READABLE, UV_WRITABLE. */
void relay_watch_up(struct relay *r, int events);
void relay_close_up(struct relay *r);
/* Answer that there is no connection, for which error is the reason. r is gone afterwards. */
void relay_refused(struct relay *r, int error);

/* relay_pump.c: whether the relay is still there, and has not failed. */
bool relay_pump_up(struct relay *r, size_t *budget);
bool relay_pump_down(struct relay *r, size_t *budget);
/* Write to the program, or to the peer; what it does not take is kept. Returns 0, or a negative errno. */
int relay_send_up(struct relay *r, const char *bytes, size_t length);
int relay_send_down(struct relay *r, const char *bytes, size_t length);
/* The same of what is kept. Returns 1 when nothing is left, 0, or a negative errno. */
int relay_flush_up(struct relay *r);
int relay_flush_down(struct relay *r);
void relay_rest_free(struct relay_rest *rest);

/* relay_head.c */

/* Write the request as the program gets it. Returns whether it could be. */
bool relay_write_request(struct relay *r, const struct http_head *http, const char *target);
/* Take bytes of the answer's head; *ret_rest, *ret_length: what follows it, once it is whole. Returns 0, 1 when it is, or a negative errno. */
int relay_take_head(
	struct relay *r, const char *bytes, size_t length, char **ret_rest, size_t *ret_length);
