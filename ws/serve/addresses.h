/* The addresses that the server listens on, for people and for the links that it makes. */
#pragma once

#include "ws/auth/auth.h"
#include "ws/net/server.h"
#include "ws/serve/options.h"

/*
 * Print them all on standard output. A terminal gets them with the owner's token where one is needed; anything else, which
 * somebody may keep or show around, gets where the token is instead.
 */
void addresses_print(const struct server *server, const struct auth *auth,
	const struct serve_options *options, const char *runtime_dir);

/* The first one that a browser can use; NULL if there is none. Valid as long as the server. */
const char *addresses_find_browsable(const struct server *server);
