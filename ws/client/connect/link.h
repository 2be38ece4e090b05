/* An address as `ringside share` and `ringside url --token` print it: a server, and what opens it. Pure. */
#pragma once

#include "ws/client/connect/cli.h"

#include <stdbool.h>

#define LINK_BASE_MAX 512u
#define LINK_SESSION_MAX 128u

struct link {
	char base[LINK_BASE_MAX + 1]; /* http(s)://HOST[:PORT], and what stands before ? and # */
	char session[LINK_SESSION_MAX + 1]; /* of ?s=ID, or "" */
	char token[CLI_TOKEN_MAX];          /* of #link=TOKEN or #token=TOKEN */
	bool owner;                         /* it is the token of an owner */
};

/* Whether a word is meant as one. */
bool link_is_meant(const char *word);

/* Returns 0, or -EINVAL for what has no token, or is too long; ret_link is then not to be used. */
int link_read(const char *text, struct link *ret_link);
