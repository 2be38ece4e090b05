/*
 * TLS of connections that speak HTTP/2, by OpenSSL. Who speaks HTTP/1.1 may become a WebSocket, so that one is libwebsockets',
 * which cannot be kept from speaking HTTP/2 itself once it has negotiated that. The ClientHello tells which it will be.
 */
#pragma once

#include "ws/net/caller.h"

/* Of the server's certificate and key. Returns 0 or a negative errno, which has been logged. */
int tls_open(struct server *s);
void tls_close(struct server *s);

/* Whether HTTP/2 is served, and the ClientHello, which is here as a whole (handover.h) and stays there, offers it. */
bool tls_offers_http2(const struct caller *c);

/* Begin with the handshake; at its end HTTP/2 begins. */
void tls_begin(struct caller *c);
/* Go on with it. c may be over afterwards. */
void tls_turn(struct caller *c);
