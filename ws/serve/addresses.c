/* Prints the addresses. Errors of standard output are ignored, as it may be closed. */
#include "ws/serve/addresses.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_browsable(const char *url)
{
	return strncmp(url, "unix:", 5) != 0;
}

/* Print where the token is. */
static void print_place(const struct serve_options *o, const char *runtime_dir)
{
	if (o->token_file)
		printf(" (the token is in %s)", o->token_file);
	else if (o->token_in_environment)
		printf(" (the token is that of $RINGSIDE_TOKEN)");
	else
		printf(" (the token is in %s/token)", runtime_dir);
}

void addresses_print(const struct server *server, const struct auth *auth,
	const struct serve_options *options, const char *runtime_dir)
{
	const char *url;
	bool terminal = isatty(STDOUT_FILENO) == 1;
	for (size_t i = 0; (url = server_url(server, i)); i++) {
		bool needed = !auth->open && is_browsable(url);
		/* Browsers do not send the part after '#'. */
		printf("Ringside is at %s%s%s", url, needed && terminal ? "#token=" : "",
			needed && terminal ? auth->token : "");
		if (needed && !terminal)
			print_place(options, runtime_dir);
		putchar('\n');
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
