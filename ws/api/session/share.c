/* Share links. Creation and revocation are answered after they are on the disk. */
#include "shell/clock.h"
#include "shell/own_error.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/json/session.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/socket/control_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPIRY_DEFAULT_MS (UINT64_C(24) * 3600 * 1000)
#define EXPIRY_MIN_MS 1000u

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

/* The URL of a link; null if the server only listens on unix sockets. */
static json_t *address_json(const struct api *a, const char *token)
{
	return a->url ? json_sprintf("%s#link=%s", a->url, token) : json_null();
}

/* A created or revoked link that is being stored. */
struct storing {
	struct request *request;
	json_t *answer; /* owned */
	char id[LINK_ID_SIZE];
};

static struct storing *storing_create(struct request *r, const char *id, json_t *answer)
{
	struct storing *w = request_alloc(r, sizeof *w);
	if (!w) {
		json_decref(answer);
		return NULL;
	}
	w->request = request_ref(r);
	w->answer = answer;
	snprintf(w->id, sizeof w->id, "%s", id);
	return w;
}

static void storing_end(struct storing *w)
{
	request_unref(w->request);
	free(w);
}

/* A link that could not be stored would end with the server: revoke it. */
static void on_issued(void *user, int error)
{
	struct storing *w = user;
	struct api *a = api_of(w->request);
	if (error < 0) {
		(void)links_revoke(&a->auth->links, w->id); /* may be revoked already */
		json_decref(w->answer);
		reply_error(w->request, error_code_of(error), error_text(error), NULL);
	} else {
		reply_success(w->request, w->answer);
	}
	storing_end(w);
}

static void issue(struct api *a, struct request *r, struct link_entry *e)
{
	char *token;
	int rc = links_issue(&a->auth->links, e, clock_wall_ms(), &token);
	if (rc == -ERR_LIMIT) {
		reply_error(r, "LIMIT_REACHED", "Too many links", NULL);
		return;
	}
	if (rc < 0) {
		reply_error(r, error_code_of(rc), error_text(rc), NULL);
		return;
	}
	json_t *answer = json_pack("{s:o, s:s, s:o, s:o}", "link", link_json(e), "token", token,
		"path", json_sprintf("/#link=%s", token), "url", address_json(a, token));
	free(token);
	struct storing *w = storing_create(r, e->id, answer);
	if (w)
		links_store(&a->auth->links, on_issued, w);
	else
		(void)links_revoke(&a->auth->links, e->id);
}

static void create_link(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	const char *role, *name;
	uint64_t expires_in = EXPIRY_DEFAULT_MS;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "role", &role) || !body_text(r, body, "name", &name) ||
		!body_number(r, body, "expiresInMs", EXPIRY_MIN_MS, LINK_EXPIRY_MAX_MS, &expires_in))
		return;
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
}

static void on_revoked(void *user, int error)
{
	struct storing *w = user;
	if (error < 0)
		reply_error(w->request, error_code_of(error),
			"The link is revoked, but only until the server restarts: storing failed",
			NULL);
	else
		reply_success(w->request, NULL);
	storing_end(w);
}

static void delete_link(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	const struct link_entry *e = links_find(&a->auth->links, r->match.item);
	if (!e || strcmp(e->session, session_id(s)) != 0) {
		reply_error(r, "LINK_NOT_FOUND", "There is no such link", NULL);
		return;
	}
	struct storing *w = storing_create(r, e->id, NULL);
	if (!w)
		return;
	char id[LINK_ID_SIZE];
	snprintf(id, sizeof id, "%s", e->id);
	(void)links_revoke(&a->auth->links, id);
	terminals_revoke(a->terminals, id);
	control_sockets_revoke(a->controls, id);
	access_sweep(a->access);
	links_store(&a->auth->links, on_revoked, w);
}

const struct route_row api_share_rows[] = {
	{METHOD_GET, "/api/session/{}/links", ROUTE_OWNER, .session = list_links},
	{METHOD_POST, "/api/session/{}/links", ROUTE_OWNER, .session = create_link},
	{METHOD_DELETE, "/api/session/{}/links/{}", ROUTE_OWNER, .session = delete_link},
	{.path = NULL},
};
