/*
 * WebSocket handshakes (RFC 6455 4.2.1): checks and admits requests. An admitted connection goes to libwebsockets (handover.h).
 */
#pragma once

#include "ws/net/conn.h"

/* The protocol of a WebSocket, chosen by its path. */
enum upgrade_kind { UPGRADE_NONE, UPGRADE_TERMINAL, UPGRADE_CONTROL, UPGRADE_MUX, UPGRADE_RPC };

/* An admitted WebSocket. It is the opaque user data of its connection in libwebsockets. */
struct upgrade {
	enum upgrade_kind kind;
	struct terminal_query query; /* of UPGRADE_TERMINAL */
	char *params[REQUEST_PARAMS_MAX]; /* of that, if it is elsewhere (terminal_is_elsewhere()); owned */
	size_t params_count;
	bool elsewhere;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	struct quota_place place, seat; /* as a connection, and as a terminal */
	struct relay *tunnel;           /* of TLS: connects it to the peer; NULL = none */
};

/* Whether a decoded path is a WebSocket's, and nothing else. */
bool upgrade_is_path(const char *path);

/* Whether a request asks for a WebSocket. */
bool upgrade_is_wanted(const struct http_head *http);

/* Check such a request. Returns the admitted WebSocket, owned by the caller; NULL = c has been answered or dropped. */
struct upgrade *upgrade_admit(struct conn *c, const struct http_head *http);

/* Free it, and release its quota. NULL is allowed. */
void upgrade_free(struct upgrade *u);
