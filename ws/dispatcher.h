/*
 * The dispatcher: the only way from a request to its handler, for every transport. Modules register their routes (see
 * ws/route.h). The dispatcher finds the row, checks the credentials and the session, and calls the handler.
 */
#pragma once

#include "shell/session/sessions.h"
#include "ws/metrics.h"
#include "ws/request.h"
#include "ws/route.h"

/* Sends requests to other nodes of a fleet, see ws/fleet/router.h. */
struct dispatcher_router {
	/*
	 * Take a request whose client has been admitted; local: its session is at this server. Returns false if it is handled here,
	 * at once. Otherwise r is answered later, or dispatcher_call() is called.
	 */
	bool (*take)(void *user, struct request *r, bool local);
	void *user;
};

/* All pointers are borrowed. */
struct dispatcher {
	struct sessions *sessions;
	struct metrics *metrics;
	struct access *access; /* NULL: access never ends */
	struct routes routes;
	const struct dispatcher_router *router; /* NULL: there is no fleet */
	const char *node;                       /* of this server in it; NULL: there is none */
};

/*
 * Check what the head of a request decides, before its body is received: the route, the credentials, and whether the
 * client may use the session. Returns false after r was answered.
 */
bool dispatcher_admit(struct dispatcher *d, struct request *r);

/*
 * Answer a request, now or later. The transport has filled in everything up to `match`; this fills in `match`.
 * The transport checks the Host and Origin headers.
 */
void dispatcher_handle(struct dispatcher *d, struct request *r);

/* Call the handler of a request that the router has taken, or answer that its session does not exist. */
void dispatcher_call(struct dispatcher *d, struct request *r);
