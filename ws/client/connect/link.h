/* Parses the addresses that `ringside share` and `ringside url --token` print. Pure. */
#pragma once

#include "ws/client/connect/cli.h"

#include <stdbool.h>

#define LINK_BASE_MAX 512u
#define LINK_SESSION_MAX 128u

/* A parsed address. */
struct link {
	char base[LINK_BASE_MAX + 1];       /* http(s)://HOST[:PORT][/PATH] */
	char session[LINK_SESSION_MAX + 1]; /* ID of ?s=ID, or "" */
	char token[CLI_TOKEN_MAX];          /* TOKEN of #link=TOKEN or #token=TOKEN */
	bool owner;                         /* #token: the owner's token */
};

/* Whether a word begins with http:// or https://. */
bool link_is_url(const char *word);

/* Returns 0, or -EINVAL if there is no token or a part is too long; *ret_link is undefined then. */
int link_parse(const char *text, struct link *ret_link);
