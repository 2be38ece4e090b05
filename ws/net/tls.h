/* TLS handshakes, by OpenSSL. After them conn_read() and conn_write() decrypt and encrypt. */
#pragma once

#include "ws/net/conn.h"

/* Load the server's certificate and key, if it has any. Returns 0 or a negative errno, which has been logged. */
int tls_open(struct server *s);

/* Free them. */
void tls_close(struct server *s);

/* Whether the peer's first bytes are plain HTTP instead of a handshake. */
bool tls_is_clear(const struct conn *c);

/* Begin the handshake; after it http1_begin() is called. c may be over afterwards. */
void tls_begin(struct conn *c);

/* Continue the handshake. c may be over afterwards. */
void tls_turn(struct conn *c);
