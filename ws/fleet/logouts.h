/*
 * Tells all nodes which of the owner's logins have ended. The registry has a key for each, "ended.ID" with the time when its
 * cookie expires, and the key "logouts", which is written after each of them: nodes look at that once a second.
 */
#pragma once

#include "shell/cluster/bucket.h"
#include "ws/auth/auth.h"

#include <stdbool.h>

/* All is borrowed. */
struct logouts {
	struct bucket *registry;
	struct auth *auth;
	uint64_t revision; /* of "logouts", as last seen */
	bool seen;         /* the keys have been read once */
	bool busy;         /* a call is out */
};

/* Initialize, and learn of logins that end here. */
void logouts_open(struct logouts *l, struct bucket *registry, struct auth *auth);

/* Stop learning. The bucket may still call back until it is closed. */
void logouts_close(struct logouts *l);

/* Publish what has ended here, or look at what has ended elsewhere. Call it once a second. */
void logouts_turn(struct logouts *l);
