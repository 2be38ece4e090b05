/*
 * Creating, listing and revoking previews of ports (see ws/preview/previews.h). Requests to /proxy/PORT are relayed by
 * ws/net/relay.h and refused here.
 */
#include "shell/clock.h"
#include "shell/name.h"
#include "shell/own_error.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/preview/previews.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* A request that is answered when the list has been stored. */
struct storing {
	struct request *request;
	struct preview_name name; /* of a new preview, which is revoked if storing fails */
	json_t *answer;
};

/* The port at which browsers reach this server; 0: the default port of the scheme. */
static unsigned public_port(const struct api *a, const struct request *r)
{
	const char *colon = a->own_url ? strrchr(a->own_url, ':') : NULL;
	bool tls = a->own_url && strncmp(a->own_url, "https:", 6) == 0;
	if (a->previews->place.port > 0)
		return a->previews->place.port;
	/* A proxy terminates TLS at the default port. */
	if (r->secure && !tls)
		return 0;
	return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

/* The URL of a preview; null if previews have no hosts. */
static json_t *url_json(const struct api *a, const struct request *r, const char *host)
{
	const struct preview_place *place = &a->previews->place;
	const char *scheme = place->scheme[0] ? place->scheme : r->secure ? "https" : "http";
	unsigned port = public_port(a, r);
	if (!place->domain[0])
		return json_null();
	if (port == 0 || port == (strcmp(scheme, "https") == 0 ? 443u : 80u))
		return json_sprintf("%s://%s/", scheme, host);
	return json_sprintf("%s://%s:%u/", scheme, host, port);
}

static json_t *preview_json(const struct api *a, const struct request *r, const struct preview *p)
{
	char label[PREVIEW_LABEL_SIZE], host[PREVIEW_LABEL_SIZE + PREVIEW_DOMAIN_MAX + 2];
	char created[CLOCK_TEXT_SIZE];
	const char *domain = a->previews->place.domain;
	preview_name_format(&p->name, label);
	snprintf(host, sizeof host, "%s.%s", label, domain);
	clock_format(p->created_ms, created);
	return json_pack("{s:i, s:s*, s:s, s:s, s:o, s:o, s:o, s:s*, s:s, s:s, s:i, s:s}", "port",
		(int)p->name.port, "name", p->title[0] ? p->title : NULL, "id", p->name.id, "token",
		p->name.token, "host", domain[0] ? json_string(host) : json_null(), "url",
		url_json(a, r, host), "path", json_sprintf("/proxy/%u/", p->name.port), "sessionId",
		p->session[0] ? p->session : NULL, "author", p->author, "createdAt", created,
		"connections", (int)p->users_count, "status", "active");
}

/* Owners see all previews, a link sees those that it has created. */
static bool may_see(const struct request *r, const struct preview *p)
{
	return r->principal.role == ROLE_OWNER || strcmp(r->principal.link, p->link) == 0;
}

/* Check that r's principal may use previews. Returns false if r has been answered. */
static bool admit(struct request *r)
{
	if (!api_of(r)->previews->owners_only || r->principal.role == ROLE_OWNER)
		return true;
	return reply_error(r, "PERMISSION_DENIED", "Only the owner may do that", NULL);
}

/* Check that a port can have previews. Returns false if r has been answered. */
static bool check_port(struct request *r, json_int_t port)
{
	const struct previews *all = api_of(r)->previews;
	if (port >= PREVIEW_PORT_MIN && port <= PREVIEW_PORT_MAX &&
		!previews_is_own(all, (unsigned)port))
		return true;
	return reply_error(r, "INVALID_PORT",
		"port must be a number from 1024 to 65535, and none of Ringside's own",
		json_pack("{s:I}", "port", port));
}

/* Parse the session with which the preview ends, if one is named. Returns false if r has been answered. */
static bool parse_session(struct request *r, const json_t *body, struct preview *terms)
{
	const char *asked, *id;
	if (!body_text(r, body, "sessionId", &asked))
		return false;
	if (asked && strcmp(asked, BODY_NO_SESSION) == 0)
		asked = NULL;
	if (!access_session(&r->principal, asked, &id))
		return reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
	if (!id)
		return true;
	const struct session *s = sessions_find(api_of(r)->sessions, id);
	if (!s || !auth_may_see(&r->principal, session_id(s), session_epoch(s)))
		return reply_error(r, "SESSION_NOT_FOUND", "There is no such session",
			json_pack("{s:s}", "sessionId", id));
	if (!session_is_readable(s) || s->state == SESSION_EXITED)
		return reply_error(r, "RESOURCE_BUSY", "The session is not running", NULL);
	snprintf(terms->session, sizeof terms->session, "%s", id);
	terms->epoch = session_epoch(s);
	return true;
}

/* Parse the body into a preview. Returns false if r has been answered. */
static bool parse_terms(struct request *r, const json_t *body, struct preview *terms)
{
	const json_t *port = json_object_get(body, "port");
	const char *title, *token;
	*terms = (struct preview){0};
	if (!check_port(r, json_is_integer(port) ? json_integer_value(port) : 0) ||
		!body_text(r, body, "name", &title) || !body_text(r, body, "token", &token) ||
		!parse_session(r, body, terms))
		return false;
	if (title && *title && !name_is_text(title))
		return reply_invalid(r, "name",
			"A name is 1 to 128 characters without control characters", "invalid");
	if (token && !preview_name_is_token(token))
		return reply_invalid(r, "token", "A token is 8 to 16 of a-z, 0-9 and _", "invalid");
	terms->name.port = (unsigned)json_integer_value(port);
	snprintf(terms->name.token, sizeof terms->name.token, "%s", token ? token : "");
	snprintf(terms->title, sizeof terms->title, "%s", title ? title : "");
	snprintf(terms->link, sizeof terms->link, "%s", r->principal.link);
	auth_author(&r->principal, terms->author);
	return true;
}

/* A preview that could not be stored is revoked, because a restart would lose it. */
static void on_stored(void *user, int error)
{
	struct storing *w = user;
	struct previews *all = api_of(w->request)->previews;
	struct preview *p = error < 0 ? previews_find(all, &w->name) : NULL;
	if (p)
		preview_revoke(p);
	if (error < 0) {
		json_decref(w->answer);
		reply_error(w->request, error_code_of(error), error_text(error), NULL);
	} else {
		reply_success(w->request, w->answer);
	}
	request_unref(w->request);
	free(w);
}

static void answer_stored(struct request *r, const struct preview *p)
{
	struct api *a = api_of(r);
	struct storing *w = p->link[0] ? NULL : malloc(sizeof *w);
	if (p->link[0]) {
		reply_success(r, preview_json(a, r, p));
	} else if (!w) {
		refuse_memory(r);
	} else {
		*w = (struct storing){
			.request = request_ref(r), .name = p->name, .answer = preview_json(a, r, p)};
		previews_store(a->previews, on_stored, w);
	}
}

static void make(struct request *r, struct preview *terms)
{
	struct api *a = api_of(r);
	static const struct access_amount want[ACCESS_PLACES] = {{0}};
	struct preview *p;
	if (terms->link[0] && !access_claim_for(a->access, r, want, &terms->claim))
		return;
	int rc = previews_add(a->previews, terms, &p);
	if (rc == -EEXIST)
		reply_invalid(r, "token", "Another preview has this token", "taken");
	else if (rc == -ERR_LIMIT)
		reply_error(r, "LIMIT_REACHED", "There are too many previews",
			json_pack("{s:i}", "maxPreviews",
				(int)(terms->link[0] ? PREVIEWS_OF_LINK : PREVIEWS_MAX)));
	else if (rc < 0)
		reply_error(r, error_code_of(rc), error_text(rc), NULL);
	else
		answer_stored(r, p);
}

static void expose_port(struct request *r)
{
	struct api *a = api_of(r);
	struct preview terms;
	json_t *body = body_read(r);
	if (!body || !admit(r) || !parse_terms(r, body, &terms))
		return;
	struct preview *same = previews_find_same(
		a->previews, terms.name.port, terms.session, terms.link);
	/* A repeated request returns the same preview; another token creates another preview. */
	if (same && (!terms.name.token[0] || strcmp(same->name.token, terms.name.token) == 0))
		reply_success(r, preview_json(a, r, same));
	else
		make(r, &terms);
}

static void list_exposed(struct request *r)
{
	struct api *a = api_of(r);
	const struct preview *p;
	if (!admit(r))
		return;
	json_t *list = json_array();
	previews_prune(a->previews);
	DL_FOREACH (a->previews->list, p)
		if (may_see(r, p))
			json_array_append_new(list, preview_json(a, r, p));
	reply_success(r,
		json_pack("{s:o, s:I}", "ports", list, "count", (json_int_t)json_array_size(list)));
}

/* Idempotent. */
static void unexpose_port(struct request *r)
{
	struct api *a = api_of(r);
	const char *token = request_param(r, "token");
	struct preview *p, *next;
	uint64_t port;
	int removed = 0;
	if (!admit(r))
		return;
	if (!params_number(r->match.id, PREVIEW_PORT_MAX, &port)) {
		reply_error(r, "INVALID_PORT", "The path must end with a port number", NULL);
		return;
	}
	DL_FOREACH_SAFE (a->previews->list, p, next) {
		if (p->name.port != port || !may_see(r, p) ||
			(token && strcmp(token, p->name.token) != 0))
			continue;
		preview_revoke(p);
		removed++;
	}
	json_t *answer = json_pack("{s:I, s:i}", "port", (json_int_t)port, "removed", removed);
	struct storing *w = removed > 0 ? calloc(1, sizeof *w) : NULL;
	if (!w) {
		reply_success(r, answer);
		return;
	}
	*w = (struct storing){.request = request_ref(r), .answer = answer};
	previews_store(a->previews, on_stored, w);
}

/* HTTP/1.1 connections are relayed before: this request came over another transport. */
static void refuse_path(struct request *r)
{
	reply_error(r, "NOT_IMPLEMENTED", "Ports can only be reached over HTTP/1.1", NULL);
}

const struct route_row api_ports_rows[] = {
	{METHOD_POST, "/api/expose-port", ROUTE_OWNER_OR_TRUSTED, .plain = expose_port},
	{METHOD_GET, "/api/exposed-ports", ROUTE_OWNER_OR_TRUSTED, .plain = list_exposed},
	{METHOD_DELETE, "/api/exposed-ports/{}", ROUTE_OWNER_OR_TRUSTED, .plain = unexpose_port},
	{METHOD_GET, "/proxy/{}", ROUTE_OWNER_OR_TRUSTED, .plain = refuse_path, .rest = true},
	{METHOD_POST, "/proxy/{}", ROUTE_OWNER_OR_TRUSTED, .plain = refuse_path, .rest = true},
	{METHOD_PUT, "/proxy/{}", ROUTE_OWNER_OR_TRUSTED, .plain = refuse_path, .rest = true},
	{METHOD_DELETE, "/proxy/{}", ROUTE_OWNER_OR_TRUSTED, .plain = refuse_path, .rest = true},
	{.path = NULL},
};
