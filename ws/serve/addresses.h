/* The addresses that the server listens on, for people and for the links that it makes. */
#pragma once

#include "ws/auth/auth.h"
#include "ws/net/server.h"

/* Print them all on standard output, with the owner's token where one is needed. */
void addresses_print(const struct server *server, const struct auth *auth);

/* The first one that a browser can use; NULL if there is none. Valid as long as the server. */
const char *addresses_find_browsable(const struct server *server);
