/*
 * Handshakes of WebSockets (RFC 6455 4.2.1): what is asked for, and whether it may be had. That is decided here, by a head that
 * was parsed here: libwebsockets gets a connection when it is a WebSocket's, and a handshake of ours to read (handover.h).
 */
#pragma once

#include "ws/net/caller.h"

enum upgrade_kind { UPGRADE_NONE, UPGRADE_TERMINAL, UPGRADE_CONTROL, UPGRADE_RPC };

/* A WebSocket that has been admitted. libwebsockets keeps it with its connection. */
struct upgrade {
	enum upgrade_kind kind;
	struct terminal_query query; /* of UPGRADE_TERMINAL */
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	struct quota_place place, seat; /* as a connection, and as a terminal */
	struct relay *tunnel; /* of TLS: what connects it to the peer; NULL = nothing does */
};

/* Whether a request asks for a WebSocket. What asks for another protocol is served as if it had not. */
bool upgrade_is_wanted(const struct http_head *http);

/*
 * Decide about such a request. Returns what is admitted, which the caller owns; or NULL: the request has been answered, or the
 * connection dropped.
 */
struct upgrade *upgrade_admit(struct caller *c, const struct http_head *http);

/* Give its places back. NULL is taken. */
void upgrade_free(struct upgrade *u);
