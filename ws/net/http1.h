/* What the files of HTTP/1.1 share: http1.c reads requests, http1_answer.c sends answers. */
#pragma once

#include "ws/net/conn.h"
#include "ws/net/exchange.h"

#define HTTP1_KEEP_ALIVE_MS 30000u
#define HTTP1_ANSWER_MS 60000u             /* for an answer, unless the peer reads BODY_RATE_MIN */
#define HTTP1_TURN_MAX ((size_t)256 << 10) /* bytes of one connection in one turn of the loop */

/* Options of http1_refuse(). */
struct http1_refusal {
	bool known;       /* do not count it as a failure of an unauthenticated peer */
	bool head_only;   /* HEAD was asked for */
	bool page;        /* answer with a page instead of JSON */
	const char *link; /* of that page, see error_page() */
};

/* Bytes of empty lines in front of the request in c->in, which are ignored (RFC 9112 2.2). */
size_t http1_empty_lines(const struct conn *c);

/* Answer an invalid or refused request with an error, then close the connection. how: NULL = zeros. */
void http1_refuse(
	struct conn *c, const char *code, const char *message, const struct http1_refusal *how);

/* Refuse a request while its head is still in c->in, by which a browser is recognized. c->busy and c->clear take precedence. */
void http1_refuse_head(struct conn *c, const char *code, const char *message);

/* Refuse a valid request on a connection of which none is served: c->busy, c->clear. Returns false for all others. */
bool http1_refuse_unserved(struct conn *c, const struct http_head *http);

/*
 * c->in is full, or was before: the head is too large. Read on until it is known whether a browser asks. Returns false if more
 * is to be read; otherwise c has been answered.
 */
bool http1_skip_excess(struct conn *c);

/* Create the exchange of a request that closes the connection; state CONN_ANSWER. NULL when memory is short. */
struct exchange *http1_exchange(struct conn *c);

/* Wait for the next request. */
void http1_next(struct conn *c);

/* Send what comes before the answer's body. Returns CONN_STEP_MORE when all of that is sent. */
enum conn_step http1_send_out(struct conn *c);

/* Send "100 Continue" (RFC 9110 10.1.1). Returns false if the connection is lost or memory is short. */
bool http1_send_continue(struct conn *c);

/* Send c->out, the rest of an answer that another server has begun; then as http1_answer(). */
void http1_send_rest(struct conn *c);

/* Send what there is of the answer to x; at its end, wait for the next request or close. */
void http1_answer(struct conn *c, struct exchange *x);
