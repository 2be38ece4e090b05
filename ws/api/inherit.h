/* Commands that run beside a session with the directory, variables, functions and options of its shell. */
#pragma once

#include "ws/api/api.h"

/* The state of a session's shell. All pointers are borrowed for the call. */
struct inherited {
	const char *session;  /* session id */
	const char *cwd;      /* default working directory of the command; may be NULL */
	const char *preamble; /* see shell/preamble.h */
	size_t preamble_length;
};

/* Answer r by running a command. body is borrowed. */
typedef void inherit_fn(
	struct api *a, struct request *r, json_t *body, const struct inherited *inherited);

/* Ask the shell of s for its state and call fn with it, now or later. Not called if r has been answered. */
void inherit_from(struct api *a, struct request *r, json_t *body, struct session *s, inherit_fn *fn);

/* POST /api/run with a parsed body. inherited: NULL to inherit nothing. */
inherit_fn api_run_body;
