/*
 * A sweep moves all stale requests and claims to lists of their own, then ends them one by one, because the callbacks
 * may end others of them.
 */
#include "ws/access.h"

#include "shell/clock.h"
#include "shell/own_error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define RETRY_S "1" /* Retry-After */

struct access_claim {
	struct claim claim; /* first, so that a pointer to it can be cast */
	struct access_claim *prev, *next;
	struct access *access;
	struct principal principal;
	struct quota_place places[ACCESS_PLACES];
	bool stale; /* on the list of claims to withdraw */
	char key[LINK_ID_SIZE];
	char by[LINK_ID_SIZE + LOGIN_ID_SIZE + 24];
};

void access_open(struct access *a, const struct auth *auth, unsigned max_connections)
{
	*a = (struct access){.auth = auth};
	quotas_init(&a->quotas, max_connections);
}

void access_close(struct access *a)
{
	struct request *r, *next;
	DL_FOREACH_SAFE2(a->requests, r, next, access_next)
	access_leave(r);
	quotas_finish(&a->quotas);
}

bool access_is_current(const struct access *a, const struct principal *p)
{
	return !a || auth_is_current(a->auth, p, clock_wall_ms());
}

bool access_may(const struct access *a, const struct principal *p, enum route_access access)
{
	static const enum role least[] = {[ROUTE_PUBLIC] = ROLE_VIEWER,
		[ROUTE_VIEWER] = ROLE_VIEWER,
		[ROUTE_DRIVER] = ROLE_DRIVER,
		[ROUTE_OWNER_OR_TRUSTED] = ROLE_OWNER,
		[ROUTE_OWNER] = ROLE_OWNER};
	bool trusted = access == ROUTE_OWNER_OR_TRUSTED && a && a->drivers_may_all;
	return p->role >= (trusted ? ROLE_DRIVER : least[access]);
}

bool access_session(const struct principal *p, const char *asked, const char **ret_id)
{
	if (p->session[0] && asked && strcmp(asked, p->session) != 0)
		return false;
	*ret_id = p->session[0] ? p->session : asked;
	return true;
}

/* Quotas */

void access_refuse(struct request *r, enum quota_kind kind)
{
	reply_header(r, "Retry-After", RETRY_S);
	reply_error(r, "QUOTA_REACHED",
		"The quota of this link, of the session's links, or of all links is used up",
		json_pack("{s:s}", "kind", quota_name(kind)));
}

bool access_acquire(
	struct access *a, struct request *r, enum quota_kind kind, struct quota_place *place)
{
	if (!a || quota_acquire(&a->quotas, kind, 1, &r->principal, place))
		return true;
	access_refuse(r, kind);
	return false;
}

/* Requests */

bool access_enter(struct access *a, struct request *r)
{
	if (!a)
		return true;
	if (!access_acquire(a, r, QUOTA_REQUESTS, &r->place))
		return false;
	r->access = a;
	r->entered_ms = clock_monotonic_ms();
	DL_APPEND2(a->requests, r, access_prev, access_next);
	return true;
}

void access_leave(struct request *r)
{
	struct access *a = r->access;
	quota_release(&r->place);
	if (!a)
		return;
	struct request **list = r->access_stale ? &a->stale_requests : &a->requests;
	r->access = NULL;
	DL_DELETE2(*list, r, access_prev, access_next);
}

/* Whether the client may safely repeat the request, so that its answer may be refused. */
static bool can_repeat(const struct request *r)
{
	return r->method == METHOD_GET || (r->match.row && r->match.row->reads);
}

/* An answer above the limit, such as the output of a session with a large ring, is sent if it is the only one. */
int access_count_answer(struct request *r, size_t length)
{
	struct access *a = r->access;
	if (!a || length <= ACCESS_ANSWER_SMALL)
		return 0;
	size_t space = a->answers < ACCESS_ANSWERS_MAX ? ACCESS_ANSWERS_MAX - a->answers : 0;
	unsigned most = a->quotas.limits[QUOTA_ANSWER_BYTES].link;
	unsigned amount = length < most ? (unsigned)length : most;
	bool fits = length <= space || a->answers == 0;
	if (!fits && can_repeat(r))
		return -ENOBUFS;
	if (!quota_acquire(&a->quotas, QUOTA_ANSWER_BYTES, amount, &r->principal, &r->answer.place)) {
		if (can_repeat(r))
			return -ERR_LIMIT;
		a->quotas.refused[QUOTA_ANSWER_BYTES]--; /* not refused after all */
	}
	r->answer.access = a;
	r->answer.length = length;
	a->answers += length;
	return 0;
}

void access_refuse_answer(struct request *r, int error)
{
	if (error == -ERR_LIMIT) {
		access_refuse(r, QUOTA_ANSWER_BYTES);
		return;
	}
	reply_header(r, "Retry-After", RETRY_S);
	reply_error(r, "LIMIT_REACHED", "Too many bytes of answers are unsent: read them first",
		json_pack("{s:I}", "limit", (json_int_t)ACCESS_ANSWERS_MAX));
}

void access_drop_answer(struct request *r)
{
	if (!r->answer.access)
		return;
	r->answer.access->answers -= r->answer.length;
	r->answer.access = NULL;
	quota_release(&r->answer.place);
}

bool access_stream(struct request *r)
{
	struct access *a = r->access;
	if (!a)
		return true;
	quota_release(&r->place);
	return quota_acquire(&a->quotas, QUOTA_STREAMS, 1, &r->principal, &r->place);
}

/* Claims */

static void on_released(struct claim *claim)
{
	struct access_claim *c = (struct access_claim *)claim;
	for (unsigned i = 0; i < ACCESS_PLACES; i++)
		quota_release(&c->places[i]);
	struct access_claim **list = c->stale ? &c->access->stale_claims : &c->access->claims;
	DL_DELETE(*list, c);
	free(c);
}

int access_claim(struct access *a, const struct principal *p,
	const struct access_amount want[ACCESS_PLACES], struct claim **ret_claim,
	enum quota_kind *ret_kind)
{
	*ret_claim = NULL;
	struct access_claim *c = a ? calloc(1, sizeof *c) : NULL;
	if (!c)
		return a ? -ENOMEM : 0;
	c->access = a;
	c->principal = *p;
	/* All owners are one claimant; each link is one. */
	snprintf(c->key, sizeof c->key, "%s", p->link);
	snprintf(c->by, sizeof c->by, "%s %s %llu", p->link, p->login,
		(unsigned long long)p->expires_ms);
	c->claim = (struct claim){.released = on_released, .key = c->key, .by = c->by};
	DL_APPEND(a->claims, c);
	for (unsigned i = 0; i < ACCESS_PLACES; i++) {
		if (quota_acquire(&a->quotas, want[i].kind, want[i].amount, p, &c->places[i]))
			continue;
		on_released(&c->claim);
		if (ret_kind)
			*ret_kind = want[i].kind;
		return -ERR_LIMIT;
	}
	*ret_claim = &c->claim;
	return 0;
}

bool access_claim_for(struct access *a, struct request *r,
	const struct access_amount want[ACCESS_PLACES], struct claim **ret_claim)
{
	enum quota_kind kind;
	int rc = access_claim(a, &r->principal, want, ret_claim, &kind);
	if (rc == -ERR_LIMIT)
		access_refuse(r, kind);
	else if (rc < 0)
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
	return rc == 0;
}

/* The end of access */

/* Whether p's access has ended. revoked: a link or login has been revoked since the last sweep. */
static bool is_over(const struct access *a, const struct principal *p, bool revoked, uint64_t now_ms)
{
	bool expired = p->expires_ms > 0 && p->expires_ms <= now_ms;
	return expired || (revoked && !auth_is_current(a->auth, p, now_ms));
}

static void gather_stale(struct access *a, bool revoked, uint64_t now_ms)
{
	struct request *r, *next;
	struct access_claim *c, *next_claim;
	DL_FOREACH_SAFE2(a->requests, r, next, access_next)
	{
		if (r->outlives_access || !is_over(a, &r->principal, revoked, now_ms))
			continue;
		DL_DELETE2(a->requests, r, access_prev, access_next);
		DL_APPEND2(a->stale_requests, r, access_prev, access_next);
		r->access_stale = true;
	}
	DL_FOREACH_SAFE (a->claims, c, next_claim) {
		if (!is_over(a, &c->principal, revoked, now_ms))
			continue;
		DL_DELETE(a->claims, c);
		DL_APPEND(a->stale_claims, c);
		c->stale = true;
	}
}

void access_sweep(struct access *a)
{
	if (!a)
		return;
	uint64_t revoked = auth_revoked(a->auth);
	gather_stale(a, a->seen != revoked, clock_wall_ms());
	a->seen = revoked;
	while (a->stale_requests)
		request_cut(a->stale_requests);
	while (a->stale_claims)
		a->stale_claims->claim.withdraw(&a->stale_claims->claim);
}

void access_owner_key(const struct principal *p, const char *of, char *ret_owner, size_t size)
{
	snprintf(ret_owner, size, "%s:%s", p->link[0] ? "link" : "owner", p->link[0] ? p->link : of);
}
