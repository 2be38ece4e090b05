/* Methods of tunnels, of both main objects, as requests. Pure; see ws/rpc/methods.h for what the functions are. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

const char *tunnel_methods_mend_named(json_t *body, const json_t *arguments);
const char *tunnel_methods_mend_run(json_t *body, const json_t *arguments);

/* {id, port, url?, hostname?, createdAt}: of one that has been started, and of all. */
json_t *tunnel_methods_result(const json_t *answer, const json_t *arguments);
json_t *tunnel_methods_results(const json_t *answer, const json_t *arguments);

/* A tunnel that has ended; all is borrowed. */
struct tunnel_gone {
	const char *id, *run; /* run: "" where it has no name */
	bool named;
	unsigned port;
	int code; /* -1: there is none, a signal has ended it */
};

/* Which method of the peer's main object hears of it: onTunnelExit() of the container's client, onTunnelRunExit() of the preview's. */
const char *tunnel_methods_listener(bool preview);
/* The arguments of that, an expression. */
json_t *tunnel_methods_gone(bool preview, const struct tunnel_gone *gone);
