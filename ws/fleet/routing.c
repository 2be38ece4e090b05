/* The steps: find() the object, choose() a node, claim() the ids here, or look up the address of another node. */
#include "ws/fleet/routing.h"

#include "shell/id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#define AVOID_MS (2 * NODES_LIFE_MS)

struct routing {
	struct routing *prev, *next; /* of the claim that it waits for */
	struct routings *all;
	struct routing_question q;
	char wanted[KEY_NODE_MAX + 1]; /* q.node */
	char node[KEY_NODE_MAX + 1];   /* wanted, then the one that was found or chosen */
	bool chosen;                   /* it does not have the objects yet */
	bool looked_again; /* in the registry, because the place that was kept is of a lost node */
	unsigned claimed;  /* of q.objects */
	const struct routing_callbacks *callbacks;
	void *user; /* NULL: cancelled */
	struct routing **slot;
};

/* A claim that is not decided. */
struct routing_claim {
	UT_hash_handle hh;
	struct object_id object;
	struct routings *all;
	struct routing *waiters;
};

static const struct routing_problem unreachable = {"NODE_UNREACHABLE", "The node cannot be reached"};
static const struct routing_problem unknown_node = {"NODE_NOT_FOUND", "There is no such node"};
static const struct routing_problem no_registry = {
	"REGISTRY_UNREACHABLE", "The registry of the fleet cannot be reached"};
static const struct routing_problem no_memory = {"OUT_OF_MEMORY", "Out of memory"};

/* End of a routing: its memory is freed; call back with what is returned. */
static struct routing end(struct routing *r)
{
	struct routing copy = *r;
	if (copy.user)
		*copy.slot = NULL;
	free(r);
	return copy;
}

static void end_here(struct routing *r)
{
	struct routing c = end(r);
	if (c.user)
		c.callbacks->here(c.user, c.claimed > 0);
	else if (c.claimed > 0)
		routing_release(c.all, &c.q);
}

static void end_failed(struct routing *r, const struct routing_problem *problem)
{
	struct routing c = end(r);
	if (c.claimed > 0)
		routing_release(c.all, &c.q);
	if (c.user)
		c.callbacks->failed(c.user, problem, c.node);
}

static const struct node *find_node(const struct node *nodes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(nodes[i].name, name) == 0)
			return &nodes[i];
	return NULL;
}

static void on_found(void *user, int error, const char *node);

/* The node does not live. The object may have been forgotten, and made elsewhere. */
static void lose_node(struct routing *r)
{
	struct places *places = member_places(r->all->member);
	/* Without the registry the kept place is all that is known. */
	if (r->chosen || r->looked_again || r->q.count == 0 || !member_is_connected(r->all->member)) {
		end_failed(r, &unreachable);
		return;
	}
	r->looked_again = true;
	snprintf(r->node, sizeof r->node, "%s", r->wanted);
	places_drop(places, &r->q.objects[0]);
	places_find(places, &r->q.objects[0], on_found, r);
}

static void on_address(void *user, int error, const struct node *nodes, size_t count)
{
	struct routing *r = user;
	const struct node *n = find_node(nodes, count, r->node);
	if (!n) {
		end_failed(r, error < 0 ? &no_registry : &unknown_node);
	} else if (!n->lives) {
		lose_node(r);
	} else {
		char url[NODES_URL_SIZE];
		memcpy(url, n->url, sizeof url);
		struct routing c = end(r);
		if (c.user)
			c.callbacks->there(c.user, c.node, url, c.chosen);
	}
}

/* Another node has it: get that node's address. */
static void go(struct routing *r)
{
	struct nodes *nodes = member_nodes(r->all->member);
	if (nodes)
		nodes_list(nodes, on_address, r);
	else
		end_failed(r, &no_registry);
}

/* Claiming */

static void claim_next(struct routing *r);

/* The claim of an id is decided. */
static void conclude(struct routing *r, int error, const char *owner)
{
	const char *own = r->all->own;
	if (error == -EEXIST && owner && strcmp(owner, own) == 0)
		error = 0; /* another request makes it */
	if (error == 0) {
		r->claimed++;
		claim_next(r);
	} else if (error != -EEXIST || !owner) {
		end_failed(r, error == -ENOMEM ? &no_memory : &no_registry);
	} else {
		const struct object_id *o = &r->q.objects[r->claimed];
		places_keep(member_places(r->all->member), o, owner);
		snprintf(r->node, sizeof r->node, "%s", owner);
		r->chosen = false;
		if (r->claimed > 0)
			routing_release(r->all, &r->q);
		r->claimed = 0;
		if (!r->q.forwarded) {
			go(r);
			return;
		}
		struct routing c = end(r);
		if (c.user)
			c.callbacks->misdirected(c.user, c.node);
	}
}

static void on_claimed(void *user, int error, const char *owner)
{
	struct routing_claim *k = user;
	struct routing *r, *next, *waiters = k->waiters;
	char name[KEY_NODE_MAX + 1];
	snprintf(name, sizeof name, "%s", owner ? owner : "");
	HASH_DEL(k->all->claims, k);
	free(k);
	DL_FOREACH_SAFE (waiters, r, next)
		conclude(r, error, owner ? name : NULL);
}

/* Wait for the claim of an object, which is begun if it is not. */
static void await_claim(struct routing *r, const struct object_id *o)
{
	struct routing_claim *k;
	HASH_FIND(hh, r->all->claims, o, sizeof *o, k);
	if (k) {
		DL_APPEND(k->waiters, r);
		return;
	}
	k = calloc(1, sizeof *k);
	if (k) {
		k->object = *o;
		k->all = r->all;
		HASH_ADD(hh, r->all->claims, object, sizeof k->object, k);
	}
	if (!k || !k->hh.tbl) {
		free(k);
		end_failed(r, &no_memory);
		return;
	}
	DL_APPEND(k->waiters, r);
	claims_begin(member_claims(r->all->member), o, true, on_claimed, k);
}

/* Claim the next id of an object that is not here. */
static void claim_next(struct routing *r)
{
	const struct claims *claims = member_claims(r->all->member);
	while (r->claimed < r->q.count) {
		const struct object_id *o = &r->q.objects[r->claimed];
		struct routing_claim *k;
		HASH_FIND(hh, r->all->claims, o, sizeof *o, k);
		if (k || (!routing_is_here(r->all, o) && !claims_have(claims, o))) {
			await_claim(r, o);
			return;
		}
		r->claimed++;
	}
	end_here(r);
}

/* This node is to have it. */
static void stay(struct routing *r)
{
	if (r->q.creates)
		claim_next(r);
	else
		end_here(r);
}

/* Choosing */

static void on_nodes(void *user, int error, const struct node *nodes, size_t count)
{
	struct routing *r = user;
	unsigned chance = 0;
	(void)id_random(&chance, sizeof chance);
	const char *avoid = uv_now(r->all->loop) < r->all->avoid_until_ms ? r->all->avoid : "";
	const struct node *n = error < 0 ? NULL : nodes_choose(nodes, count, avoid, chance);
	/* Without the registry, and if no node accepts one, this node answers. */
	if (!n || strcmp(n->name, r->all->own) == 0) {
		stay(r);
		return;
	}
	snprintf(r->node, sizeof r->node, "%s", n->name);
	go(r);
}

static void choose(struct routing *r)
{
	struct nodes *nodes = member_nodes(r->all->member);
	r->chosen = true;
	if (r->node[0] && strcmp(r->node, r->all->own) != 0)
		go(r);
	else if (r->node[0] || !nodes)
		stay(r);
	else
		nodes_list(nodes, on_nodes, r);
}

/* Finding */

static void on_found(void *user, int error, const char *node)
{
	struct routing *r = user;
	struct claims *claims = member_claims(r->all->member);
	const struct object_id *o = &r->q.objects[0];
	if (error == 0 && strcmp(node, r->all->own) != 0) {
		snprintf(r->node, sizeof r->node, "%s", node);
		go(r);
	} else if (error == 0) {
		/* It is registered for this node: it is being made, or it is gone. */
		places_drop(member_places(r->all->member), o);
		if (!claims_have(claims, o))
			claims_end(claims, o);
		stay(r);
	} else if (error == -ENOENT) {
		if (r->q.creates)
			choose(r);
		else
			end_here(r); /* which answers that it does not exist */
	} else {
		end_failed(r, error == -ENOMEM ? &no_memory : &no_registry);
	}
}

/* Another node has forwarded the request: there is no second hop. It names this node if that is to make the objects. */
static void receive(struct routing *r)
{
	struct claims *claims = member_claims(r->all->member);
	const struct object_id *o = &r->q.objects[0];
	if ((r->q.creates && strcmp(r->node, r->all->own) == 0) || r->q.count == 0) {
		stay(r);
		return;
	}
	if (!claims_have(claims, o))
		claims_end(claims, o); /* it was registered for this node */
	struct routing c = end(r);
	if (c.user)
		c.callbacks->misdirected(c.user, "");
}

void routing_begin(struct routings *all, const struct routing_question *q,
	const struct routing_callbacks *callbacks, void *user, struct routing **slot)
{
	struct routing *r = calloc(1, sizeof *r);
	if (!r) {
		*slot = NULL;
		callbacks->failed(user, &no_memory, "");
		return;
	}
	*r = (struct routing){
		.all = all, .q = *q, .callbacks = callbacks, .user = user, .slot = slot};
	snprintf(r->wanted, sizeof r->wanted, "%s", q->node ? q->node : "");
	snprintf(r->node, sizeof r->node, "%s", r->wanted);
	r->q.node = NULL; /* it was borrowed */
	*slot = r;
	if (r->wanted[0] && !q->chooses && !q->forwarded)
		choose(r); /* the one that is named */
	else if (q->count > 0 && routing_is_here(all, &q->objects[0]))
		stay(r); /* others may have to be claimed */
	else if (q->forwarded)
		receive(r);
	else if (q->count > 0)
		places_find(member_places(all->member), &r->q.objects[0], on_found, r);
	else
		choose(r);
}

void routing_avoid(struct routings *all, const char *node)
{
	snprintf(all->avoid, sizeof all->avoid, "%s", node);
	all->avoid_until_ms = uv_now(all->loop) + AVOID_MS;
}

void routing_cancel(struct routing *r)
{
	if (r)
		r->user = NULL;
}

bool routing_is_here(const struct routings *all, const struct object_id *o)
{
	return o->kind == OBJECT_SESSION ? sessions_find(all->sessions, o->id) != NULL
					 : processes_find(all->processes, o->id) != NULL;
}

void routing_release(struct routings *all, const struct routing_question *q)
{
	for (unsigned i = 0; i < q->count && !all->closed; i++)
		if (!routing_is_here(all, &q->objects[i]))
			claims_end(member_claims(all->member), &q->objects[i]);
}
