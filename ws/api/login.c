/*
 * Logging in and out, and the ledger of logins. A change takes effect at once; the answer is sent when the ledger has
 * been stored on disk.
 */
#include "ws/api/api.h"
#include "ws/json/state.h"
#include "ws/json/session.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/socket/control_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request that is answered when the ledger has been stored. */
struct storing {
	struct request *request;
	json_t *answer;                /* owned; may be NULL */
	char cookie[AUTH_COOKIE_SIZE]; /* Set-Cookie, or "" */
	const char *failure;           /* error text if storing fails: a literal */
};

static void on_stored(void *user, int error)
{
	struct storing *w = user;
	struct request *r = w->request;
	if (w->cookie[0])
		reply_header(r, "Set-Cookie", w->cookie);
	if (error < 0) {
		json_decref(w->answer);
		reply_error(r, error_code_of(error), w->failure, NULL);
	} else {
		reply_success(r, w->answer);
	}
	request_unref(r);
	free(w);
}

/* Store the ledger, then answer r. Takes answer. cookie: NULL = none is set. */
static void store(struct request *r, json_t *answer, const char *cookie, const char *failure)
{
	struct storing *w = request_alloc(r, sizeof *w);
	if (!w) {
		json_decref(answer);
		return;
	}
	w->request = request_ref(r);
	w->answer = answer;
	w->failure = failure;
	snprintf(w->cookie, sizeof w->cookie, "%s", cookie ? cookie : "");
	logins_store(&api_of(r)->auth->logins, on_stored, w);
}

/* For a link that answers a prompt: the session and command that ask, because its page shows no terminal. */
static json_t *answers_json(const struct api *a, const struct principal *p)
{
	struct session *s = p->answers ? sessions_find(a->sessions, p->session) : NULL;
	if (!p->answers)
		return json_null();
	const struct block *b = s && session_epoch(s) == p->epoch ? blocks_running(session_blocks(s))
								  : NULL;
	return json_pack("{s:o, s:o}", "sessionName", s ? json_string(s->name) : json_null(),
		"block", activity_block_json(b));
}

static json_t *principal_json(const struct api *a, const struct principal *p)
{
	const struct link_entry *link = p->link[0] ? links_find(&a->auth->links, p->link) : NULL;
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "role",
		role_name(auth_shown_role(p)), "name",
		link && link->name[0] ? json_string(link->name) : json_null(), "sessionId",
		p->session[0] ? json_string(p->session) : json_null(), "link",
		p->link[0] ? json_string(p->link) : json_null(), "expiresAt",
		p->link[0] ? time_json(p->expires_ms) : json_null(), "authRequired", !a->auth->open,
		"answers", answers_json(a, p));
}

static void show_principal(struct request *r)
{
	struct api *a = api_of(r);
	reply_success(r, principal_json(a, &r->principal));
}

static void try_login(struct request *r, const char *token)
{
	struct api *a = api_of(r);
	struct principal p;
	char cookie[AUTH_COOKIE_SIZE];
	const struct auth_request login = {.token = token,
		.peer = r->peer,
		.agent = r->agent,
		.before = r->auth == AUTH_OK ? &r->principal : NULL,
		.secure = r->secure};
	switch (auth_login(a->auth, &login, &p, cookie)) {
	case AUTH_OK:
		store(r, principal_json(a, &p), cookie,
			"The login is valid, but could not be stored: it ends when the server restarts");
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
}

static void log_in(struct request *r)
{
	const char *token;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "token", &token))
		return;
	if (token)
		try_login(r, token);
	else
		reply_invalid(r, "token", "A token is required", "required");
}

/* Close the sockets of a login that has ended. */
static void close_sockets(struct api *a, const char *login)
{
	terminals_log_out(a->terminals, login);
	control_sockets_log_out(a->controls, login);
}

/* Cut the requests in progress of ended logins, except r, which is answered. */
static void cut_requests(struct api *a, struct request *r)
{
	r->outlives_access = true;
	access_sweep(a->access);
}

static void log_out(struct request *r)
{
	struct api *a = api_of(r);
	char cookie[AUTH_COOKIE_SIZE];
	struct principal p = r->auth == AUTH_OK ? r->principal : (struct principal){0};
	if (auth_logout(a->auth, &p, r->secure, cookie)) {
		close_sockets(a, p.login);
		cut_requests(a, r);
		store(r, NULL, cookie, "You are logged out, but the change could not be stored");
	} else {
		reply_header(r, "Set-Cookie", cookie);
		reply_success(r, NULL);
	}
}

/* The ledger */

static json_t *login_json(const struct api *a, const struct request *r, const struct login_entry *e)
{
	const struct link_entry *link = links_find(&a->auth->links, e->link);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b}", "id", e->id, "role",
		role_name(link ? link->role : ROLE_OWNER), "sessionId",
		link ? json_string(link->session) : json_null(), "link",
		link ? json_string(link->id) : json_null(), "createdAt", time_json(e->created_ms),
		"lastUsedAt", time_json(e->used_ms), "expiresAt", time_json(e->expires_ms), "peer",
		e->peer, "userAgent", e->agent, "current", strcmp(e->id, r->principal.login) == 0);
}

static void list_logins(struct request *r)
{
	struct api *a = api_of(r);
	const struct logins *l = &a->auth->logins;
	json_t *list = json_array();
	auth_prune(a->auth);
	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(list, login_json(a, r, &l->entries[i]));
	reply_success(r, json_pack("{s:o}", "logins", list));
}

static const char not_stored[] = "The login is revoked, but the change could not be stored";

static void revoke_login(struct request *r)
{
	struct api *a = api_of(r);
	if (!logins_remove(&a->auth->logins, r->match.id)) {
		reply_error(r, "LOGIN_NOT_FOUND", "There is no such login", NULL);
		return;
	}
	close_sockets(a, r->match.id);
	cut_requests(a, r);
	store(r, json_pack("{s:i}", "revoked", 1), NULL, not_stored);
}

static void revoke_logins(struct request *r)
{
	struct api *a = api_of(r);
	struct logins *l = &a->auth->logins;
	int count = (int)l->count;
	while (l->count > 0) {
		char id[LOGIN_ID_SIZE];
		snprintf(id, sizeof id, "%s", l->entries[0].id);
		logins_remove(l, id);
		close_sockets(a, id);
	}
	cut_requests(a, r);
	store(r, json_pack("{s:i}", "revoked", count), NULL, not_stored);
}

const struct route_row api_login_rows[] = {
	{METHOD_POST, "/api/auth/login", ROUTE_PUBLIC, .plain = log_in, .place = PLACE_LOGIN},
	{METHOD_POST, "/api/auth/logout", ROUTE_PUBLIC, .plain = log_out, .place = PLACE_LOGIN},
	{METHOD_GET, "/api/auth/whoami", ROUTE_VIEWER, .plain = show_principal, .prompt = true,
		.place = PLACE_HERE},
	{METHOD_GET, "/api/auth/logins", ROUTE_OWNER, .plain = list_logins, .place = PLACE_ALL},
	{METHOD_DELETE, "/api/auth/logins", ROUTE_OWNER, .plain = revoke_logins, .place = PLACE_HERE},
	{METHOD_DELETE, "/api/auth/logins/{}", ROUTE_OWNER, .plain = revoke_login,
		.place = PLACE_HERE},
	{.path = NULL},
};
