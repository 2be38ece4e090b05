/*
 * HTTP/2 (RFC 9113), by nghttp2, over the connections of caller.h: each stream is an exchange. Streams have windows of their own,
 * so that a body that is paused, or an answer that nobody reads, holds up no other.
 *
 * There are no WebSockets in it: browsers open those by a connection of HTTP/1.1.
 */
#pragma once

#include "ws/net/caller.h"

/* The handshake is over, and the peer speaks HTTP/2. */
void http2_begin(struct caller *c);

/* Read what has come, send what can be sent. c may be over afterwards. */
void http2_turn(struct caller *c);

/* The connection has been idle for long, or it was late: tell the peer that no more is served, and end it. */
void http2_leave(struct caller *c);

/* The connection is over: its exchanges end with it. */
void http2_end(struct caller *c);
