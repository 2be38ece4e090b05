/* The target of a request as another node gets it: path and query, encoded (RFC 3986). Pure. */
#pragma once

#include "ws/request.h"

/* What a target is made of. */
struct target {
	const char *url, *path; /* url: in front, as it is */
	char *const *params;    /* decoded, "name=value"; those with the name "node" are omitted */
	size_t params_count;
	const char *node; /* added as the parameter "node"; NULL: none */
};

/* Write it. Returns a text owned by the caller, or NULL when memory is short. */
char *target_write(const struct target *t);
