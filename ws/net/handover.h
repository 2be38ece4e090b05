/*
 * What libwebsockets gets of the connections that are served here: the handshake of TLS, after which it
 * sleeps while HTTP/1.1 is spoken, and for good those that speak HTTP/2 or become WebSockets.
 */
#pragma once

#include "ws/net/caller.h"

/*
 * Whether a whole ClientHello is here: what speaks TLS sends it at once, and the rest is silence. A
 * connection that speaks no TLS is dropped.
 */
bool handover_has_hello(struct caller *c);

/* Give a connection whose ClientHello is here to libwebsockets, for the handshake. */
void handover_handshake(struct caller *c);

/* The handshake is over. */
void handover_done(struct caller *c);

/* The connection becomes a WebSocket: it is libwebsockets', with what has come of it. */
void handover_websocket(struct caller *c);
