/*
 * This server as a node of a fleet: its identity, the connection to the registry, joining, reports, and the ids of its objects.
 *
 * The identity is in RUNTIME/node.json: a random instance id, and the secret of the fleet, which all nodes share. The first
 * node makes the secret and puts it into the registry; each node keeps a copy, so that it can start without the registry.
 */
#pragma once

#include "shell/cluster/claims.h"
#include "shell/cluster/nodes.h"
#include "shell/cluster/places.h"

#include <stdbool.h>
#include <uv.h>

#define MEMBER_SECRET_SIZE 65u /* 256 random bits in hexadecimal, and NUL */

struct member;

/* Called with the user of the options, from the loop. */
struct member_callbacks {
	void (*fill)(void *user, struct node_report *report);       /* about this node */
	bool (*exists)(void *user, const struct object_id *object); /* at this node */
	/* The object was removed from the registry on purpose while this node was away: end it. */
	void (*forgotten)(void *user, const struct object_id *object);
	/* The object exists here, and another node has its id. */
	void (*conflict)(void *user, const struct object_id *object, const char *owner);
	/* The registry is connected, or not, because of `reason`. */
	void (*changed)(void *user, bool connected, const char *reason);
	/*
	 * The node has joined. error: 0; -EADDRINUSE: another living node has this name; -EPERM: the registry belongs to a fleet
	 * with another secret. After an error it is no member. Called once.
	 */
	void (*joined)(void *user, int error);
};

/* All is borrowed: runtime_fd, creds and servers for the call, the rest for the member's life. */
struct member_options {
	uv_loop_t *loop;
	const char *servers, *creds; /* see struct nats_options */
	const char *node, *version;
	int runtime_fd; /* the runtime directory */
	const struct member_callbacks *callbacks;
	void *user;
};

/*
 * Read the identity and begin to connect. Returns 0, and a member for member_close(); -EINVAL: the servers or the file of
 * credentials are invalid; or another negative errno.
 */
int member_open(const struct member_options *options, struct member **ret_member);

/*
 * Close the connection and release the handles; the loop must run before member_free(). What waits for an answer gets it from
 * inside. NULL is fine.
 */
void member_close(struct member *m);

/* Free it. NULL is fine. */
void member_free(struct member *m);

/* The secret of the fleet; "" while it is not known: then the registry must be reached first. */
const char *member_secret(const struct member *m);

/* The server is ready: join. url: of this node, for other nodes; borrowed for the member's life. Returns 0 or -ENOMEM. */
int member_join(struct member *m, const char *url);

/* The node ends: remove its report. Its objects stay registered. */
void member_leave(struct member *m);

/* An object exists from now on: register it, unless that has been done by claims_begin(). */
void member_add(struct member *m, enum object_kind kind, const char *id);

/* An object does not exist any more, unless one with its id is added in the same turn of the loop. */
void member_remove(struct member *m, enum object_kind kind, const char *id);

/* Whether the registry is connected. */
bool member_is_connected(const struct member *m);

/* The registry. */
struct bucket *member_registry(const struct member *m);

/* The parts; nodes: NULL before member_join(). */
struct claims *member_claims(const struct member *m);
struct places *member_places(const struct member *m);
struct nodes *member_nodes(const struct member *m);
