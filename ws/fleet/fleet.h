/*
 * The server in a fleet (--cluster): joins the registry, registers the ids of its sessions and processes, and sends requests
 * for objects of other nodes to them. See README.md.
 */
#pragma once

#include "ws/api/api.h"
#include "ws/auth/auth.h"
#include "ws/dispatcher.h"

#include <uv.h>

struct fleet;

/* All is borrowed: servers and creds for the call, the rest for the fleet's life. */
struct fleet_options {
	uv_loop_t *loop;
	struct sessions *sessions; /* empty yet, like the processes */
	struct processes *processes;
	struct auth *auth; /* opened later, with fleet_secret() */
	struct dispatcher *dispatcher;
	struct terminals *terminals;
	struct api *api;
	const char *servers, *creds; /* of NATS */
	const char *ca; /* PEM file of certificates that nodes are trusted by; NULL: the system's */
	const char *node, *version;
	int runtime_fd;
	/* The node may not be a member of the fleet, because of `why`: the server must end. */
	void (*refused)(void *user, const char *why);
	void *user;
};

/*
 * Begin to connect, and observe the sessions and processes. Returns 0, and a fleet for fleet_close(); -EINVAL: servers or creds
 * are invalid; or another negative errno.
 */
int fleet_open(const struct fleet_options *options, struct fleet **ret_fleet);

/*
 * The secret of the fleet, for auth_open(). Runs the loop for at most wait_ms until the registry has told it, if this node has
 * never been a member. "": it is not known.
 */
const char *fleet_secret(struct fleet *f, unsigned wait_ms);

/* The server is ready: join, and send requests to other nodes. url: of this node, with or without "/" at the end. Returns 0 or a negative errno. */
int fleet_join(struct fleet *f, const char *url);

/* End what is under way, and release the handles. The loop must run before fleet_free(). NULL is fine. */
void fleet_close(struct fleet *f);

/* Free it. NULL is fine. */
void fleet_free(struct fleet *f);
