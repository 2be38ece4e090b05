/*
 * What libwebsockets gets of the connections that are served here: the handshake of TLS, after which it
 * sleeps while HTTP is spoken, and for good those that become WebSockets.
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

/*
 * Whether a request wants to become a WebSocket, in the form that RFC 6455 4.1 has. What asks for
 * another protocol is served as if it had not.
 */
bool handover_is_wanted(const struct http_head *http);
/* Whether libwebsockets will take it for one: its own answers to others are not ours. */
bool handover_is_sound(const struct http_head *http);
/*
 * Whether half a head is that of a WebSocket, as far as its path tells. Clients that write TLS in small
 * records, as Go's does of some 1.2 KB at first, send a handshake with cookies in several, and only one
 * can be looked at without taking it from libwebsockets.
 */
bool handover_is_begun(const char *bytes, size_t length);
