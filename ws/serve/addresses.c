/* The addresses that the server listens on. There is no state; standard output may be closed, which nobody minds. */
#include "ws/serve/addresses.h"

#include <stdio.h>
#include <string.h>

static bool is_browsable(const char *url)
{
	return strncmp(url, "unix:", 5) != 0;
}

void addresses_print(const struct server *server, const struct auth *auth)
{
	const char *url;
	for (size_t i = 0; (url = server_url(server, i)); i++) {
		/* The token goes behind '#', which browsers keep to themselves. */
		bool token = !auth->open && is_browsable(url);
		printf("Ringside is at %s%s%s\n", url, token ? "#token=" : "",
			token ? auth->token : "");
	}
	fflush(stdout);
}

const char *addresses_find_browsable(const struct server *server)
{
	const char *url;
	for (size_t i = 0; (url = server_url(server, i)); i++)
		if (is_browsable(url))
			return url;
	return NULL;
}
