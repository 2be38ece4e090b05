/*
 * The owner's logins of all nodes of a fleet that were ended before their time: a cookie that another node has issued is valid
 * unless it is here. See ws/fleet/logouts.h for how nodes learn of them.
 */
#pragma once

#include "ws/auth/logins.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENDED_MAX 65536u /* then the one that expires first is dropped */

/* One login. */
struct ended_login {
	char id[LOGIN_ID_SIZE];
	uint64_t expires_ms; /* of its cookie; wall clock */
	bool published;      /* the other nodes can know of it */
};

/* Zero is empty. */
struct ended_logins {
	struct ended_login *entries; /* owned */
	size_t count, size;
	uint64_t changes; /* entries that were added, ever */
};

/* Add a login, if it is not there, and drop those that have expired at now_ms. Returns its entry; NULL: it has expired. */
struct ended_login *ended_logins_add(
	struct ended_logins *e, const char *id, uint64_t expires_ms, uint64_t now_ms);

/* One that is not published; NULL: there is none. */
struct ended_login *ended_logins_unpublished(struct ended_logins *e);

/* Whether a login is there. */
bool ended_logins_have(const struct ended_logins *e, const char *id);

/* Free all. */
void ended_logins_finish(struct ended_logins *e);
