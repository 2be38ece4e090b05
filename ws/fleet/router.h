/*
 * Routes requests between the nodes of a fleet: a request for an object of another node is forwarded to that node, one hop,
 * whatever its transport. See enum route_place for what a route's requests are about.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/dispatcher.h"
#include "ws/fleet/follow.h"
#include "ws/fleet/gather.h"
#include "ws/fleet/node_call.h"
#include "ws/fleet/routing.h"

struct routed;

/* All is borrowed, except the list. */
struct router {
	struct routings *routings;
	struct dispatcher *dispatcher;
	const struct auth *auth;
	struct node_calls *calls;
	struct gathers *gathers;
	struct follows *follows;
	struct routed *list; /* requests under way */
	struct dispatcher_router hook;
};

/* Initialize, and let the dispatcher use it. */
void router_open(struct router *r, struct dispatcher *dispatcher);

/* The server ends: answer what waits. */
void router_close(struct router *r);

/* A node does not live any more: end the requests that wait for it. */
void router_lose(struct router *r, const char *node);

/* Whether requests wait for other nodes. */
bool router_is_waiting(const struct router *r);
