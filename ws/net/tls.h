/* TLS of connections, by OpenSSL. Once its handshake is over, caller_read() and caller_write() decrypt and encrypt. */
#pragma once

#include "ws/net/caller.h"

/* Read the server's certificate and key, if it has any. Returns 0 or a negative errno, which has been logged. */
int tls_open(struct server *s);
void tls_close(struct server *s);

/* Begin with the handshake of a connection; at its end HTTP begins. c may be over afterwards. */
void tls_begin(struct caller *c);
/* Go on with it. The same. */
void tls_turn(struct caller *c);
