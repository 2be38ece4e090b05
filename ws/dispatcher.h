/*
 * The dispatcher: the one way from a request to its handler, for every transport. Modules register their routes (see
 * ws/route.h); it finds the row, checks who asks and that the session is there and theirs, and calls the handler.
 */
#pragma once

#include "shell/session/sessions.h"
#include "ws/metrics.h"
#include "ws/request.h"
#include "ws/route.h"

struct dispatcher {
	struct sessions *sessions; /* borrowed, like all here */
	struct metrics *metrics;
	struct access *access; /* NULL: everybody keeps what they have */
	struct routes routes;
};

/*
 * Decide what the head of a request decides, before its body is received: the route, who asks, and whether the session
 * is theirs. Returns whether it goes on; otherwise it has been answered.
 */
bool dispatcher_admit(struct dispatcher *d, struct request *r);

/*
 * Answer a request, now or later. The transport has filled in everything up to `match`, which this does.
 * The Host and Origin headers are the transport's to check.
 */
void dispatcher_handle(struct dispatcher *d, struct request *r);
