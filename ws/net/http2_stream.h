/* What the files of HTTP/2 share: requests are read by http2.c, and answered by http2_answer.c. */
#pragma once

#include "ws/net/exchange.h"
#include "ws/net/http2.h"

#include <nghttp2/nghttp2.h>

/* A connection. */
struct http2 {
	struct caller *caller; /* NULL: it is over, and what calls us back ends first */
	nghttp2_session *session;
	struct http2_stream *streams; /* list */
	bool busy;                    /* nghttp2 is at work */
	bool leaving;                 /* its peer has been told that no more is served */
	bool doomed;                  /* it is to be dropped */
};

struct http2_stream {
	struct http2_stream *prev, *next;
	struct http2 *http2;
	int32_t id;
	struct exchange *exchange; /* NULL: its head is not whole, or it has been killed */
	char *fields;              /* of the head, "name\0value\0" each; owned */
	size_t fields_length;
	bool is_large, is_wrong; /* the head is too large, or has what is no field */
	bool ended;              /* the peer sends no more of it */
	char *held;              /* of the body, until it is wanted; owned */
	size_t held_length;
};

/* http2_answer.c: send what there is to be sent. Returns 1 when there may be more at once, 0 when there is not, or -1. */
int http2_send(struct http2 *t);
