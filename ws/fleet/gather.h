/*
 * Asks all nodes of the fleet for their part of a list, and joins the parts, in the order of the nodes' names. What the registry
 * knows of a node that does not answer is listed as unreachable.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/dispatcher.h"
#include "ws/fleet/node_call.h"
#include "ws/fleet/routing.h"

#define GATHER_MS 3000u                    /* for the nodes to answer */
#define GATHER_PART_MAX ((size_t)64 << 20) /* bytes of one node's part */
#define GATHER_LIMIT_MAX 10000u            /* of ?limit= */

/* What gathering needs. All is borrowed. */
struct gathers {
	uv_loop_t *loop;
	struct routings *routings;
	struct dispatcher *dispatcher;
	const struct auth *auth;
	struct node_calls *calls;
	struct gather *list; /* under way */
};

/*
 * The joined list: the members of this node's answer, with the arrays of all; or, if status is not 200, this node's error. Owned by
 * the callee; NULL: it could not be made.
 */
typedef void gather_fn(void *user, int status, json_t *list);

struct gather;

/* Whether r asks for a list that can be gathered. */
bool gather_is_list(const struct request *r);

/*
 * Begin for a request like r, of which everything is copied; for one that asks for no list, the list of sessions. *slot is set
 * until fn is called, which happens once, later or from inside.
 */
void gather_begin(struct gathers *all, const struct request *r, gather_fn *fn, void *user,
	struct gather **slot);

/* Answer r, which asks for a list, with the joined list. */
void gather_answer(struct gathers *all, struct request *r);

/* The server ends: cancel all. Their memory is freed when the registry has answered. */
void gathers_close(struct gathers *all);

/* Cancel it; fn is not called. NULL is fine. */
void gather_cancel(struct gather *g);
