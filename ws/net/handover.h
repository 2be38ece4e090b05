/*
 * Hands connections over to libwebsockets once they are admitted as WebSockets. libwebsockets reads a handshake that is written
 * here, of which only the checked key comes from the peer, because its parser fails on hostile heads. With TLS it gets one end
 * of a socket pair, and a relay connects the other end to the peer (relay_tunnel()).
 */
#pragma once

#include "ws/net/upgrade.h"

/*
 * Make c a WebSocket. u is taken. key: the peer's Sec-WebSocket-Key. Bytes in c->in are passed on. c may be over afterwards.
 */
void handover_websocket(struct conn *c, struct upgrade *u, const char *key);
