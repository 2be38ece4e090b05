/*
 * What libwebsockets gets of connections: those that are admitted WebSockets. It reads a handshake that is written here, with
 * nothing in it that the peer has chosen but the key: its parser meets no head of a stranger's. Of TLS it gets one end of a
 * pair of sockets, and the other is connected to the peer (relay_tunnel()).
 */
#pragma once

#include "ws/net/upgrade.h"

/*
 * The connection becomes a WebSocket. u is taken. key: the peer's. What has come behind the handshake is in c->in. c may be over
 * afterwards.
 */
void handover_websocket(struct caller *c, struct upgrade *u, const char *key);
