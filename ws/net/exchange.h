/* One HTTP request and its answer; shared by http.c, exchange_body.c, stream.c and http1*.c. */
#pragma once

#include "ws/net/chunked.h"
#include "ws/net/conn.h"
#include "ws/net/internal.h"

/* Where the answer is. The moves are in http.c. */
enum exchange_state {
	EXCHANGE_PENDING,     /* the handler has not answered */
	EXCHANGE_ANSWERED,    /* in memory */
	EXCHANGE_STREAMING,   /* events are pulled from the handler */
	EXCHANGE_DOWNLOADING, /* pieces are pulled from the handler */
	EXCHANGE_OVER,        /* all events or pieces have been sent */
	EXCHANGE_STATES
};

/* A request and its answer; heap. Times are loop times. */
struct exchange {
	struct exchange *prev, *next; /* of its server */
	struct server *server;
	struct conn *conn;       /* the connection */
	struct request *request; /* our reference */
	char *head; /* of the request as it came, while no answer has begun; owned; NULL = not kept */
	size_t head_length;
	char *origin; /* of the page that asks, if --allow-origin has it; owned; NULL = none */
	bool wants_body;
	size_t body_size;        /* bytes announced, or received of a chunked body */
	size_t body_got;         /* bytes received */
	uint64_t body_since_ms;  /* when the current window of the rate check began */
	uint64_t body_since_got; /* body_got at that time */
	bool in_chunks;          /* the body is chunked */
	struct chunked chunks;
	bool expects;             /* the client waits for 100 Continue */
	size_t room;              /* bytes reserved in server->bodies */
	struct quota_place place; /* the same in the quota of the principal */
	size_t unread;            /* bytes of an unwanted body after the head */
	bool close_after;         /* close the connection after the answer */
	bool head_only;           /* HEAD */
	bool http_1_0;
	bool upgrade; /* the answer has an Upgrade, which Connection must list */
	bool strict;  /* send Strict-Transport-Security */
	enum exchange_state state;
	uint64_t since_ms; /* when the state began */
	bool head_sent;
	size_t sent; /* of the body, the event or the piece */
	uint64_t sent_total;
	char *event; /* being sent; owned */
	size_t event_length;
	const char *piece; /* of a download, being sent; owned by its source */
	size_t piece_length;
	uint64_t pulled_ms;   /* when the current window of the download's rate check began */
	uint64_t pulled_sent; /* sent_total at that time */
	bool event_is_last;
	bool quiet;                /* a comment is due that keeps the stream alive */
	unsigned silent;           /* sweeps since something was sent */
	unsigned cut;              /* sweeps since the reader lost its access */
	const struct asset *asset; /* the page's file that is the answer; NULL = none */
};

/* Create the exchange of a request on c. NULL when memory is short. */
struct exchange *exchange_create(struct conn *c);

/* Free it. The request is abandoned if it is not answered. */
void exchange_free(struct exchange *x);

/* The exchange of a request over HTTP, or NULL. */
struct exchange *exchange_of(const struct request *r);

/* Change the state of the answer. */
void exchange_move(struct exchange *x, enum exchange_state state);

/*
 * Decide about a request after its head has been read: answer it, dispatch it, or set wants_body. What h owns is taken.
 * problem: result of head_extract().
 */
void exchange_begin(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem);

/*
 * Decide whether a request may go to a program. If not, it has been answered. What h owns is taken. problem: result of
 * head_extract().
 */
bool exchange_admit(
	struct exchange *x, struct head *h, const struct arrival *arrival, const char *problem);

/* Refuse a body with an error, and close the connection after that. */
void exchange_refuse_body(struct exchange *x, const char *code);

/* Pass the request to its handler. */
void exchange_dispatch(struct exchange *x);

/* Add one header to an answer. Returns false if it does not fit. */
typedef bool (*exchange_add_header)(void *user, const char *name, const char *value);

/* Call add() for each header of the answer until it returns false. Returns its last result. */
bool exchange_headers(const struct exchange *x, exchange_add_header add, void *user);

/* The status of the answer. */
int exchange_status(const struct exchange *x);

/* Whether the length of the answer is unknown until its end. */
bool exchange_is_endless(const struct exchange *x);

/* Whether the answer has a Content-Length. 204 has none (RFC 9110 8.6); for 304 it would be that of the 200. */
bool exchange_has_length(const struct exchange *x);

/* Bytes of the answer's body; 0 for HEAD. */
size_t exchange_length(const struct exchange *x);

/* The value of Content-Length. */
uint64_t exchange_content_length(const struct exchange *x);

/* exchange_body.c: reserve memory for a body of this length, or a chunked one. Returns NULL, or an error code. */
const char *exchange_body_reserve(struct exchange *x, size_t length);

/* Release what is reserved. */
void exchange_body_release(struct exchange *x);

/* Where the next bytes of a body of known length go, and how many. */
char *exchange_body_space(struct exchange *x, size_t *ret_room);

/* length bytes have been put there. Returns whether the body is complete; then it has been dispatched. */
bool exchange_body_add(struct exchange *x, size_t length);

/* Whether the handler consumes the body while it comes. */
bool exchange_body_is_upload(const struct exchange *x);

/* Whether the body goes to exchange_body_feed(): it is chunked, or an upload. */
bool exchange_body_in_pieces(const struct exchange *x);

/* Whether more of the body may be read now. An upload may be paused, also after its last byte. */
bool exchange_body_is_due(const struct exchange *x);

/*
 * How many bytes to read at most, so that no more than HTTP_HEAD_MAX of them follow the body's end. 0: the body is complete,
 * but exchange_body_feed() must be called to end it.
 */
size_t exchange_body_read_max(const struct exchange *x);

/*
 * Consume bytes of the body; they are modified. *ret_used: fewer than length only at the body's end. Afterwards wants_body is
 * false if the body is complete or refused. length may be 0 to end an upload.
 */
void exchange_body_feed(struct exchange *x, char *bytes, size_t length, size_t *ret_used);

/* Whether the body comes too slowly. Call it once a second. */
bool exchange_body_is_slow(struct exchange *x);

/* It does: answer with 408. */
void exchange_body_refuse_slow(struct exchange *x);

/* Set x->event to what to send next. Returns CONN_STEP_BLOCKED when there is nothing. */
enum conn_step stream_next(struct exchange *x);

/* x->event has been sent. */
void stream_sent(struct exchange *x);
