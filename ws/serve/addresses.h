/* The server's addresses, for people and for links. */
#pragma once

#include "ws/auth/auth.h"
#include "ws/net/server.h"
#include "ws/serve/options.h"

/*
 * Print all addresses on standard output. On a terminal they contain the owner's token if one is required; otherwise the
 * place of the token is printed instead, because the output may be kept.
 */
void addresses_print(const struct server *server, const struct auth *auth,
	const struct serve_options *options, const char *runtime_dir);

/* The first address that a browser can open; NULL if there is none. Valid as long as the server. */
const char *addresses_find_browsable(const struct server *server);
