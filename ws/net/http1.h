/* What the files of HTTP/1.1 share: requests are read by http1.c, and answered by http1_answer.c. */
#pragma once

#include "ws/net/caller.h"
#include "ws/net/exchange.h"

#define HTTP1_KEEP_ALIVE_MS 30000u
#define HTTP1_TURN_MAX ((size_t)256 << 10) /* bytes moved before others have their turn */

/* How long a head may take. */
uint64_t http1_head_within_ms(const struct caller *c);

/* How a caller is refused. */
struct http1_refusal {
	bool known;     /* it is no failure of a stranger's */
	bool head_only; /* HEAD was asked for */
	bool plain;     /* who asks reads text rather than JSON */
};

/* Answer what is no request, or one that goes no further. The connection ends with that. how: NULL = zeros. */
void http1_refuse(
	struct caller *c, const char *code, const char *message, const struct http1_refusal *how);

/* An exchange for a request that has come, before its answer; NULL when memory is short. */
struct exchange *http1_exchange(struct caller *c);

/* On to the next request. */
void http1_next(struct caller *c);

/* Add text to what is sent before the answer's body. Returns false when memory is short. */
bool http1_add_out(struct caller *c, const char *text, size_t length);

/* Send that. Returns 1 when all has gone, 0 when the peer has to read first, or -1. */
int http1_send_out(struct caller *c);

/* Say that the body may come (RFC 9110 10.1.1), or nothing, in other words. Returns false when that is impossible. */
bool http1_send_continue(struct caller *c);

/* Go on with the answer to x, as far as there is one: at its end with the next request. */
void http1_answer(struct caller *c, struct exchange *x);
