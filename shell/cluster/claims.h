/*
 * The ids that this node has registered for its objects. An id exists once in a fleet: a claim writes it into the registry
 * by compare-and-set, and the loser is refused.
 *
 * Each claim converges: it has what is wanted (the object exists or is being made, or not) and what is known of the registry,
 * and the next operation follows from both. So a store that was away, a node that was killed between two writes, and a claim
 * whose outcome is unknown need no code of their own.
 *
 * Order of writes: the node's index first, then the id; removal is in reverse. So every id that a node has registered is in
 * its index, and claims_check() finds what a killed server has left.
 */
#pragma once

#include "shell/cluster/bucket.h"
#include "shell/cluster/key.h"

#include <stdbool.h>
#include <stdint.h>

#define CLAIMS_RETRY_MS 1000u /* after a failed call */
#define CLAIMS_BUSY_MAX 32u   /* calls at once, besides those of claims_begin() */

/* The value of an index key whose object was removed from the registry while its node was away. */
#define INDEX_FORGOTTEN "forgotten"

struct claims;

/*
 * The outcome of a claim. error: 0; -EEXIST: the object exists at owner, a node's name; -ENOTCONN: the registry cannot be
 * reached, nothing is registered. owner is borrowed for the call.
 */
typedef void claim_fn(void *user, int error, const char *owner);

/* All is borrowed for the life of the claims. */
struct claims_options {
	struct bucket *bucket;
	const char *node; /* name of this node */
	/* The object was removed from the registry on purpose while this node was away: end it. */
	void (*forgotten)(void *user, const struct object_id *object);
	/* The object was adopted, but another node has the id. */
	void (*conflict)(void *user, const struct object_id *object, const char *owner);
	uint64_t (*now_ms)(void *user); /* monotonic time */
	void *user;
};

/* Numbers of claims. */
struct claims_counts {
	unsigned held;      /* registered */
	unsigned waiting;   /* to be registered */
	unsigned leaving;   /* to be removed */
	unsigned conflicts; /* of this node's objects, whose ids other nodes have; so far */
};

/* Returns claims for claims_close(), or NULL if memory is short. */
struct claims *claims_open(const struct claims_options *options);

/* Free all. The bucket has been closed before: no call of it is out. NULL is fine. */
void claims_close(struct claims *c);

/*
 * Claim an id for a new object. required: the outcome must be known, because the id was chosen and may exist elsewhere;
 * otherwise, if the registry cannot be reached, the claim succeeds and is registered later. fn is called once, perhaps from
 * inside.
 */
void claims_begin(
	struct claims *c, const struct object_id *o, bool required, claim_fn *fn, void *user);

/*
 * Register an object that exists, in the next turn; at the start of the server only after claims_check(), which finds out what
 * an earlier server has registered.
 */
void claims_adopt(struct claims *c, const struct object_id *o);

/*
 * An object does not exist any more, or was not created: remove its id. Also for an object that has no claim: another node
 * has found its id registered for this node.
 */
void claims_end(struct claims *c, const struct object_id *o);

/* Whether this node has claimed or is claiming an id for an object. */
bool claims_have(const struct claims *c, const struct object_id *o);

/*
 * Compare everything with the registry: after the start, and whenever it could be reached again. Remove what is registered
 * for this node and does not exist, and register what is not.
 */
void claims_check(struct claims *c);

/* Do what is due. Returns the time when the next call is due; UINT64_MAX: nothing is. */
uint64_t claims_turn(struct claims *c);

/* Get the numbers. */
void claims_count(const struct claims *c, struct claims_counts *ret);
