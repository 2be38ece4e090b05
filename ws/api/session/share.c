/* Logging in, and share links. */
#include "shell/clock.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/json/session.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/socket/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPIRY_DEFAULT_MS (UINT64_C(24) * 3600 * 1000)
#define EXPIRY_MIN_MS 1000u

static json_t *principal_json(const struct api *a, const struct principal *p)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:b}", "role", role_name(p->role), "sessionId",
		p->session[0] ? json_string(p->session) : json_null(), "link",
		p->link[0] ? json_string(p->link) : json_null(), "expiresAt",
		time_json(p->expires_ms), "authRequired", !a->auth->open);
}

static void show_caller(struct request *r)
{
	struct api *a = api_of(r);
	reply_success(r, principal_json(a, &r->principal));
}

static void log_in(struct request *r)
{
	struct api *a = api_of(r);
	const char *token;
	struct principal p;
	char cookie[AUTH_COOKIE_SIZE];
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "token", &token))
		goto out;
	if (!token) {
		reply_invalid(r, "token", "A token is required", "required");
		goto out;
	}
	switch (auth_login(a->auth, token, r->peer, &p, cookie)) {
	case AUTH_OK:
		reply_header(r, "Set-Cookie", cookie);
		reply_success(r, principal_json(a, &p));
		break;
	case AUTH_LIMITED:
		a->metrics->auth_limited++;
		reply_header(r, "Retry-After", "60");
		reply_error(r, "TOO_MANY_ATTEMPTS", "Too many failed logins", NULL);
		break;
	default:
		a->metrics->auth_failures++;
		reply_error(r, "UNAUTHENTICATED", "The token is not valid, or has expired", NULL);
	}
out:
	json_decref(body);
}

static void log_out(struct request *r)
{
	struct api *a = api_of(r);
	char cookie[AUTH_COOKIE_SIZE];
	auth_logout(a->auth, &r->principal, cookie);
	reply_header(r, "Set-Cookie", cookie);
	reply_success(r, NULL);
}

static json_t *link_json(const struct link_entry *e)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", e->id, "role", role_name(e->role),
		"name", e->name, "createdAt", time_json(e->created_ms), "expiresAt",
		time_json(e->expires_ms));
}

static void list_links(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	struct links *l = &a->auth->links;
	json_t *list = json_array();
	links_prune(l, clock_wall_ms(), NULL);
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->entries[i].session, session_id(s)) == 0)
			json_array_append_new(list, link_json(&l->entries[i]));
	reply_success(r, json_pack("{s:o}", "links", list));
}

/* The address of a link, as far as we know where we are. */
static json_t *address_json(const struct api *a, const char *token)
{
	return a->url ? json_sprintf("%s#link=%s", a->url, token) : json_null();
}

static void issue(struct api *a, struct request *r, struct link_entry *e)
{
	char *token;
	int rc = links_issue(&a->auth->links, e, clock_wall_ms(), &token);
	if (rc == -EUSERS) {
		reply_error(r, "LIMIT_REACHED", "There are too many links", NULL);
	} else if (rc < 0) {
		reply_error(r, error_code_of(rc), error_text(rc), NULL);
	} else {
		reply_success(r,
			json_pack("{s:o, s:s, s:o, s:o}", "link", link_json(e), "token", token,
				"path", json_sprintf("/#link=%s", token), "url",
				address_json(a, token)));
		free(token);
	}
}

static void create_link(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	const char *role, *name;
	uint64_t expires_in = EXPIRY_DEFAULT_MS;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "role", &role) || !body_text(r, body, "name", &name) ||
		!body_number(r, body, "expiresInMs", EXPIRY_MIN_MS, LINK_EXPIRY_MAX_MS, &expires_in))
		goto out;
	bool viewer = role && strcmp(role, "viewer") == 0,
	     driver = role && strcmp(role, "driver") == 0;
	if (!viewer && !driver) {
		reply_invalid(r, "role", "Must be viewer or driver", role ? "invalid" : "required");
	} else if (name && *name && !name_is_text(name)) {
		reply_invalid(r, "name", "A name is 1 to 128 characters without control characters",
			"invalid");
	} else if (!session_is_readable(s)) {
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet", NULL);
	} else {
		struct link_entry e = {.role = viewer ? ROLE_VIEWER : ROLE_DRIVER,
			.epoch = session_epoch(s),
			.expires_ms = clock_wall_ms() + expires_in};
		snprintf(e.session, sizeof e.session, "%s", session_id(s));
		snprintf(e.name, sizeof e.name, "%s", name ? name : "");
		issue(a, r, &e);
	}
out:
	json_decref(body);
}

static void delete_link(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	char id[LINK_ID_SIZE];
	const struct link_entry *e = links_find(&a->auth->links, r->match.item);
	if (!e || strcmp(e->session, session_id(s)) != 0) {
		reply_error(r, "LINK_NOT_FOUND", "There is no such link", NULL);
		return;
	}
	snprintf(id, sizeof id, "%s", e->id);
	int rc = links_revoke(&a->auth->links, id);
	terminals_revoke(a->terminals, id);
	control_sockets_revoke(a->controls, id);
	if (rc < 0)
		reply_error(r, error_code_of(rc),
			"The link is revoked, but that could not be stored", NULL);
	else
		reply_success(r, NULL);
}

const struct route_row api_share_rows[] = {
	{METHOD_POST, "/api/auth/login", WHO_ANYBODY, .plain = log_in},
	{METHOD_POST, "/api/auth/logout", WHO_ANYBODY, .plain = log_out},
	{METHOD_GET, "/api/auth/whoami", WHO_VIEWER, .plain = show_caller},
	{METHOD_GET, "/api/session/{}/links", WHO_OWNER, .session = list_links},
	{METHOD_POST, "/api/session/{}/links", WHO_OWNER, .session = create_link},
	{METHOD_DELETE, "/api/session/{}/links/{}", WHO_OWNER, .session = delete_link},
	{.path = NULL},
};
