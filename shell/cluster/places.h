/*
 * Where the objects of other nodes are. An object stays at its node for life, so found places are kept until the node says
 * that it does not have the object.
 */
#pragma once

#include "shell/cluster/bucket.h"
#include "shell/cluster/key.h"

#include <stdbool.h>

#define PLACES_MAX 65536u /* kept places; then the oldest is dropped */

struct places;

/* The node of an object, borrowed for the call. error: 0, -ENOENT, or -ENOTCONN: the registry cannot be reached. */
typedef void place_fn(void *user, int error, const char *node);

/*
 * The objects that are registered for a node; borrowed for the call. error as above; then there are none. Some may have been
 * removed in the meantime.
 */
typedef void places_list_fn(void *user, int error, const struct object_id *objects, size_t count);

/* bucket: the registry, borrowed. Returns places for places_close(), or NULL if memory is short. */
struct places *places_open(struct bucket *bucket);

/* Free all. The bucket has been closed before: no call of it is out. NULL is fine. */
void places_close(struct places *p);

/* Find an object's node. fn is called once, perhaps from inside. */
void places_find(struct places *p, const struct object_id *o, place_fn *fn, void *user);

/* Keep a place that was learned otherwise. */
void places_keep(struct places *p, const struct object_id *o, const char *node);

/* The node does not have the object: look it up next time. */
void places_drop(struct places *p, const struct object_id *o);

/*
 * Remove an object of a node that does not live from the registry: its id is free, and the node ends the object if it comes
 * back. fn gets the node that had it; -ENOENT: there is no such object; -EEXIST: the registration has changed meanwhile.
 */
void places_forget(struct places *p, const struct object_id *o, place_fn *fn, void *user);

/* List the objects that are registered for a node, except those that were removed by places_forget(). */
void places_list(struct places *p, const char *node, places_list_fn *fn, void *user);
