/*
 * What goes on on behalf of principals: requests that have been handed to a handler and are not over, and claims
 * (shell/claim.h), which may outlast their request. All of it counts for the quotas of who came by a link, and ends with
 * what they came by: when a link is revoked or expires, or a login ends, what is pending is answered with ACCESS_ENDED,
 * streams are told so and end, and what has not begun never will.
 *
 * That is looked at once a second, at once where something is revoked, and again before each answer that was not given
 * at once.
 */
#pragma once

#include "shell/claim.h"
#include "ws/auth/auth.h"
#include "ws/quota.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stdint.h>

#define ACCESS_PLACES 2u
/* Bytes of answers that are not sent yet, of all requests; and of an answer that is not counted among them. */
#define ACCESS_ANSWERS_MAX ((size_t)512 << 20)
#define ACCESS_ANSWER_SMALL ((size_t)64 << 10)

struct access_claim;

struct access {
	const struct auth *auth; /* borrowed */
	bool drivers_may_all; /* --drivers-may-all: they are trusted with what is WHO_OWNER_OR_TRUSTED */
	struct quotas quotas;
	struct request *requests;       /* list: under way */
	struct access_claim *claims;    /* list */
	struct request *stale_requests; /* lists: of those, what is being ended */
	struct access_claim *stale_claims;
	uint64_t seen;  /* auth_revoked(), when that was last looked at */
	size_t answers; /* bytes */
};

/* auth: borrowed. max_connections: see quotas_init(). */
void access_open(struct access *a, const struct auth *auth, unsigned max_connections);
/* No claim is left, and no request that would be answered. */
void access_close(struct access *a);

/*
 * A handler is to get r. Returns whether it may; otherwise r has been answered. a: may be NULL, also below: then nothing
 * is counted, and nothing ends.
 */
bool access_enter(struct access *a, struct request *r);

/* r is over. Harmless when it had not entered, or has left. */
void access_leave(struct request *r);

/*
 * r, which has not left, is to get an answer of so many bytes in memory, which are counted until access_drop_answer(). Returns 0,
 * -ENOBUFS (there is no room for them, and other answers wait) or -EUSERS (the quota is used up); what has changed something is
 * always answered.
 */
int access_keep_answer(struct request *r, size_t length);

/* The answer's bytes have been freed. Harmless when they were not counted. */
void access_drop_answer(struct request *r);

/* r becomes a stream. Returns whether it may. */
bool access_stream(struct request *r);

/* Whether whoever has this principal may still ask, and have answers. */
bool access_is_current(const struct access *a, const struct principal *p);

/* Whether p has the role for what only who may do. Without a, no driver is trusted. */
bool access_may(const struct access *a, const struct principal *p, enum route_who who);

/*
 * The session that a request of p is about, which names `asked` (NULL: none): who came by a link has that link's alone, named
 * or not. Returns false when p may not name it; the caller refuses. *ret_id: `asked`, or borrowed of p; NULL: none. That it
 * is there, and still the link's, is for auth_may_see() to say.
 */
bool access_session(const struct principal *p, const char *asked, const char **ret_id);

/* End what goes on on behalf of those who are not current any more. */
void access_sweep(struct access *a);

/* What is to be claimed: so much of a kind. */
struct access_want {
	enum quota_kind kind;
	unsigned amount; /* 0: nothing */
};

/*
 * A claim on behalf of p, to be given to who does it; NULL where nothing is counted. Returns 0, -EUSERS (a quota is used
 * up: *ret_kind, unless that is NULL) or -ENOMEM. It is released once by who has taken it; one that nobody took by
 * access_drop().
 */
int access_claim(struct access *a, const struct principal *p,
	const struct access_want want[ACCESS_PLACES], struct claim **ret_claim,
	enum quota_kind *ret_kind);

/* The same on behalf of r. Returns whether there is one; otherwise r has been answered. */
bool access_claim_for(struct access *a, struct request *r,
	const struct access_want want[ACCESS_PLACES], struct claim **ret_claim);
void access_drop(struct claim *c);

/* Take a place on behalf of r, which is answered where there is none. Returns whether it is had. */
bool access_take(
	struct access *a, struct request *r, enum quota_kind kind, struct quota_place *place);

/* On whose behalf something of a session, or whatever that is in, is done: one text for each link, and for the owners in each. */
void access_whose(const struct principal *p, const char *of, char *ret_whose, size_t size);

/* Answer r: there is no room for its answer; error: as of access_keep_answer(). */
void access_refuse_answer(struct request *r, int error);

/* Answer r: the quota of this kind is used up. */
void access_refuse(struct request *r, enum quota_kind kind);
