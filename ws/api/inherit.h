/*
 * Commands that run beside a session and begin as its shell is: in its directory, with its variables, functions and
 * options. The shell is asked for that state first.
 */
#pragma once

#include "ws/api/api.h"

/* What a command takes over from a session. All borrowed for the call. */
struct inherited {
	const char *session; /* its id */
	const char *cwd;     /* where the command starts, unless the request says so; may be NULL */
	const char *preamble; /* see shell/preamble.h */
	size_t preamble_length;
};

/* What answers r by running a command; body is borrowed. */
typedef void inherit_fn(
	struct api *a, struct request *r, json_t *body, const struct inherited *inherited);

/* Call fn with the state of the session's shell, now or later. */
void inherit_from(struct api *a, struct request *r, json_t *body, struct session *s, inherit_fn *fn);

/* As POST /api/run, with a body that has been read. inherited: NULL = nothing. */
inherit_fn api_run_body;
