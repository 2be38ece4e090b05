/*
 * Ongoing work of principals: requests that a handler has not finished, and claims (shell/claim.h), which may outlast
 * their request. All of it counts for the quotas of links, and ends when the principal's link is revoked or expires, or
 * its login ends: pending requests are answered with ACCESS_ENDED, streams get it as their last event, queued work is
 * dropped.
 *
 * This is checked once a second, at once after a revocation, and again before each answer that is not immediate.
 */
#pragma once

#include "shell/claim.h"
#include "ws/auth/auth.h"
#include "ws/quota.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stdint.h>

#define ACCESS_PLACES 2u
/* Limit of unsent answers of all requests together, in bytes. */
#define ACCESS_ANSWERS_MAX ((size_t)512 << 20)
/* Answers up to this many bytes are not counted. */
#define ACCESS_ANSWER_SMALL ((size_t)64 << 10)

struct access_claim;

/* The ongoing work of all principals. */
struct access {
	const struct auth *auth; /* borrowed */
	bool drivers_may_all; /* --drivers-may-all: drivers may use ROUTE_OWNER_OR_TRUSTED routes */
	struct quotas quotas;
	struct request *requests;       /* list of requests under way */
	struct access_claim *claims;    /* list */
	struct request *stale_requests; /* lists: what access_sweep() is ending */
	struct access_claim *stale_claims;
	uint64_t seen;  /* auth_revoked() at the last sweep */
	size_t answers; /* bytes of unsent answers that are counted */
};

/* Initialize. auth: borrowed. max_connections: see quotas_init(). */
void access_open(struct access *a, const struct auth *auth, unsigned max_connections);

/* Free everything. No claim may be left, and no request that would still be answered. */
void access_close(struct access *a);

/*
 * Count r before its handler is called. Returns false after r was answered, because a quota is used up. a may be NULL
 * here and below: then nothing is counted, and access never ends.
 */
bool access_enter(struct access *a, struct request *r);

/* Stop counting r, which is over. Harmless if r has not entered or has left already. */
void access_leave(struct request *r);

/*
 * Count an answer of length bytes until access_drop_answer(). r: has not left. Returns 0, -ENOBUFS (too many bytes of
 * other answers are unsent) or -ERR_LIMIT (the link's quota is used up). Answers to requests that change something are
 * never refused.
 */
int access_count_answer(struct request *r, size_t length);

/* Stop counting r's answer, which has been freed. Harmless if it was not counted. */
void access_drop_answer(struct request *r);

/* Count r as a stream instead of a request. Returns false if the quota is used up. */
bool access_stream(struct request *r);

/* Whether p's link and login are still valid. */
bool access_is_current(const struct access *a, const struct principal *p);

/* Whether p's role permits what access requires. If a is NULL, no driver is trusted. */
bool access_may(const struct access *a, const struct principal *p, enum route_access access);

/*
 * Get the session that a request of p is about. asked: the id it names, or NULL. A link always stands for its own
 * session. Returns false if p may not name this session; the caller refuses the request. *ret_id: asked, or borrowed
 * from p, or NULL. Whether the session exists and still belongs to the link is for auth_may_see() to check.
 */
bool access_session(const struct principal *p, const char *asked, const char **ret_id);

/* End the work of all principals that are not current any more. */
void access_sweep(struct access *a);

/* An amount of one kind to claim. */
struct access_amount {
	enum quota_kind kind;
	unsigned amount; /* 0: nothing */
};

/*
 * Create a claim on behalf of p; NULL if a is NULL. Returns 0, -ERR_LIMIT (*ret_kind: the quota that is used up; may be
 * NULL) or -ENOMEM. The part that accepts the claim releases it once; the caller releases a claim that no part accepts.
 */
int access_claim(struct access *a, const struct principal *p,
	const struct access_amount want[ACCESS_PLACES], struct claim **ret_claim,
	enum quota_kind *ret_kind);

/* access_claim() on behalf of r. Returns false after r was answered. */
bool access_claim_for(struct access *a, struct request *r,
	const struct access_amount want[ACCESS_PLACES], struct claim **ret_claim);

/* Acquire one place of a quota on behalf of r. Returns false after r was answered. */
bool access_acquire(
	struct access *a, struct request *r, enum quota_kind kind, struct quota_place *place);

/* Write a key that is the same for all work that shares a limit: "link:ID" for a link, "owner:OF" for owners. */
void access_owner_key(const struct principal *p, const char *of, char *ret_owner, size_t size);

/* Answer r with the error of access_count_answer(). */
void access_refuse_answer(struct request *r, int error);

/* Answer r with QUOTA_REACHED. */
void access_refuse(struct request *r, enum quota_kind kind);
