/* Checks the route, credentials, role and session of a request, then calls its handler. Refusals are answered here. */
#include "ws/dispatcher.h"

#include "shell/session/type.h"
#include "ws/access.h"

#include <string.h>

/* Whether another node knows the rights of the client's link: the router takes the request. */
static bool is_for_router(const struct dispatcher *d, const struct request *r)
{
	return d->router && r->auth == AUTH_OK && r->principal.node[0];
}

/* Check the credentials, and whether their role may use the route. Returns false after r was answered. */
static bool admit_principal(struct dispatcher *d, struct request *r, enum route_access access)
{
	if (access == ROUTE_PUBLIC || is_for_router(d, r))
		return true;
	if (r->auth == AUTH_LIMITED) {
		d->metrics->auth_limited++;
		reply_header(r, "Retry-After", "60");
		reply_error(
			r, "TOO_MANY_ATTEMPTS", "Too many requests with wrong credentials", NULL);
	} else if (r->auth != AUTH_OK) {
		d->metrics->auth_failures++;
		reply_header(r, "WWW-Authenticate", "Bearer");
		reply_error(r, "UNAUTHENTICATED",
			r->auth == AUTH_MISSING ? "Credentials are required"
						: "The credentials are not valid",
			NULL);
	} else if (!access_is_current(d->access, &r->principal)) {
		/* Access ended while the body arrived, or between two frames of a socket. */
		d->metrics->auth_failures++;
		reply_error(r, "ACCESS_ENDED",
			"The link has been revoked or has expired, or the login has ended", NULL);
	} else if (!access_may(d->access, &r->principal, access)) {
		bool needs_driver = access == ROUTE_DRIVER;
		reply_error(r, needs_driver ? "READ_ONLY" : "PERMISSION_DENIED",
			needs_driver ? "This link is for watching only"
				     : "Only the owner may do that",
			NULL);
	} else {
		return true;
	}
	return false;
}

/* Whether the session that the path names may be at another node. */
static bool may_be_elsewhere(const struct dispatcher *d, const struct request *r)
{
	return d->router && !r->principal.session[0] && !sessions_find(d->sessions, r->match.id);
}

/* Find the session that the path names, if the client may see it. Returns NULL after r was answered. */
static struct session *find_session(struct dispatcher *d, struct request *r)
{
	struct session *s = sessions_find(d->sessions, r->match.id);
	if (s && auth_may_see(&r->principal, session_id(s), session_epoch(s)))
		return s;
	/* To the holder of a link, do not reveal whether another session exists. */
	if (r->principal.session[0])
		reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
	else
		reply_error(r, "SESSION_NOT_FOUND", "There is no such session",
			json_pack("{s:s}", "sessionId", r->match.id));
	return NULL;
}

/*
 * A link for answering a prompt may only use the routes that its page needs, and only while the prompt waits. Returns false
 * after r was answered.
 */
static bool admit_prompt_link(struct dispatcher *d, struct request *r)
{
	const struct principal *p = &r->principal;
	const struct session *s = sessions_find(d->sessions, p->session);
	const struct route_row *row = r->match.row;
	if (row->access == ROUTE_PUBLIC || !p->answers)
		return true;
	if (row->prompt && s && session_epoch(s) == p->epoch && session_prompt_is_open(s, &p->prompt))
		return true;
	return reply_error(r, "PERMISSION_DENIED",
		row->prompt ? "The prompt has been answered or has ended"
			    : "This link is only for answering a prompt at the terminal",
		NULL);
}

/*
 * Check everything except the body. *ret_session: the session that the route is about; NULL: it is about none. Returns false
 * after r was answered.
 */
static bool admit(struct dispatcher *d, struct request *r, struct session **ret_session)
{
	route_parse(&d->routes, r->method, r->path, &r->match);
	*ret_session = NULL;
	if (r->match.result == ROUTE_OTHER_METHOD)
		return reply_error(
			r, "METHOD_NOT_ALLOWED", "The endpoint does not support this method", NULL);
	if (r->match.result != ROUTE_FOUND)
		return reply_error(r, "UNKNOWN_ERROR", "The requested endpoint was not found", NULL);
	const struct route_row *row = r->match.row;
	if (!admit_principal(d, r, row->access) || (r->auth == AUTH_OK && !admit_prompt_link(d, r)))
		return false;
	if (!row->session || is_for_router(d, r) || may_be_elsewhere(d, r))
		return true;
	*ret_session = find_session(d, r);
	return *ret_session;
}

/* Call the handler, and count r as waiting if it has not answered. s: of its row's `.session`. */
static void call(struct request *r, struct session *s)
{
	request_ref(r); /* the handler may answer it, and the transport then releases it */
	if (s)
		r->match.row->session(r, s);
	else
		r->match.row->plain(r);
	json_decref(r->parsed);
	r->parsed = NULL;
	r->waited = !r->done;
	request_unref(r);
}

void dispatcher_call(struct dispatcher *d, struct request *r)
{
	struct session *s = r->match.row->session ? find_session(d, r) : NULL;
	if (s || !r->match.row->session)
		call(r, s);
}

bool dispatcher_admit(struct dispatcher *d, struct request *r)
{
	struct session *s;
	if (admit(d, r, &s))
		return true;
	d->metrics->http_requests++;
	return false;
}

void dispatcher_handle(struct dispatcher *d, struct request *r)
{
	struct session *s;
	d->metrics->http_requests++;
	/* Check again: access or the session may have ended while the body arrived. */
	if (!admit(d, r, &s) || !access_enter(d->access, r))
		return;
	request_ref(r);
	if (d->router && d->router->take(d->router->user, r, s != NULL))
		r->waited = !r->done;
	else if (s || !r->match.row->session || (s = find_session(d, r)))
		call(r, s);
	request_unref(r);
}
