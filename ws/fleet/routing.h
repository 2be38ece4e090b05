/*
 * Finds the node that has an object, or that is to make it, and registers ids before objects of this node are made: an id
 * exists once in a fleet.
 *
 * An object of another node is looked up in the registry. For one that no node has, a node is chosen, and that node claims the
 * id. If two nodes try at once, the registry decides, and the loser learns the owner.
 */
#pragma once

#include "shell/cluster/member.h"
#include "shell/process/processes.h"
#include "shell/session/sessions.h"

#include <stdbool.h>

#define ROUTING_OBJECTS 2u

/* What routings need. All is borrowed. */
struct routings {
	struct member *member;
	const struct sessions *sessions;
	const struct processes *processes;
	const char *own;              /* name of this node */
	char avoid[KEY_NODE_MAX + 1]; /* the last node that could not be reached; "": none */
	uint64_t avoid_until_ms; /* by then its report has expired, or it answers again; loop time */
	uv_loop_t *loop;
	bool closed;                  /* the server ends, and leaves everything registered */
	struct routing_claim *claims; /* table: that are not decided */
};

/* A question. */
struct routing_question {
	/* The objects that a request is about, not at this node. The first decides; 0: none. */
	struct object_id objects[ROUTING_OBJECTS];
	unsigned count;
	bool creates; /* they may be made if there are none */
	/* They are to be made: `node` is only for new ones, and one is chosen if there is none. Otherwise `node` decides alone. */
	bool chooses;
	bool forwarded;   /* another node has decided that it is this one */
	const char *node; /* where new ones are to be; NULL or "": anywhere */
};

/* Why there is no answer; literals. */
struct routing_problem {
	const char *code, *message;
};

/* One of these is called, once. */
struct routing_callbacks {
	/* It is this node. claimed: the ids of the objects are registered; if they are not made, call routing_release(). */
	void (*here)(void *user, bool claimed);
	/* Another node. node, url: borrowed for the call. chosen: it is to make the objects; otherwise it has them. */
	void (*there)(void *user, const char *node, const char *url, bool chosen);
	/* Of a forwarded request: this node does not have the object; owner: the node that has it, or "". */
	void (*misdirected)(void *user, const char *owner);
	/* node: that cannot be reached or does not exist, or "". */
	void (*failed)(void *user, const struct routing_problem *problem, const char *node);
};

struct routing;

/*
 * Begin. *slot is set to the routing until it has called back, which may happen from inside; then it is freed, and *slot is
 * NULL. callbacks: a literal.
 */
void routing_begin(struct routings *all, const struct routing_question *q,
	const struct routing_callbacks *callbacks, void *user, struct routing **slot);

/* A node could not be reached: choose others for a while. */
void routing_avoid(struct routings *all, const char *node);

/* The answer is not needed any more: no callback comes. NULL is fine. */
void routing_cancel(struct routing *r);

/* Whether an object is at this node. */
bool routing_is_here(const struct routings *all, const struct object_id *o);

/* Give up claimed ids of objects that do not exist. */
void routing_release(struct routings *all, const struct routing_question *q);
