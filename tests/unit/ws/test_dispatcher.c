/* Which role may call which handler. The table of sessions is empty; integration tests use full ones. */
#include "ws/access.h"
#include "ws/dispatcher.h"

#include <criterion/criterion.h>
#include <string.h>

static unsigned handled;
static void *module_seen;

static void count_call(struct request *r)
{
	handled++;
	module_seen = r->match.module;
	reply_success(r, NULL);
}

static void count_session_call(struct request *r, struct session *s)
{
	(void)s;
	count_call(r);
}

static const struct route_row rows[] = {
	{METHOD_GET, "/healthz", ROUTE_PUBLIC, .plain = count_call},
	{METHOD_GET, "/api/look", ROUTE_VIEWER, .plain = count_call},
	{METHOD_POST, "/api/type", ROUTE_DRIVER, .plain = count_call},
	{METHOD_POST, "/api/trust", ROUTE_OWNER_OR_TRUSTED, .plain = count_call},
	{METHOD_POST, "/api/own", ROUTE_OWNER, .plain = count_call},
	{METHOD_GET, "/api/session/{}", ROUTE_VIEWER, .session = count_session_call},
	{.path = NULL},
};

static int module;
static struct sessions sessions;
static struct metrics metrics;

/* The status of a request with this authentication and role; code must be in the reply. */
static int call(enum method method, const char *path, enum auth_result auth, enum role role,
	const char *link_session, const char *code)
{
	struct dispatcher d = {.sessions = &sessions, .metrics = &metrics};
	struct request *r = request_create();
	routes_add(&d.routes, rows, &module);
	r->method = method;
	r->path = strdup(path);
	r->auth = auth;
	r->principal.role = role;
	strcpy(r->principal.session, link_session);
	dispatcher_handle(&d, r);
	cr_assert(r->done, "%s", path);
	if (code)
		cr_expect_not_null(strstr(r->reply.body, code), "%s: %s", path, r->reply.body);
	int status = r->reply.status;
	request_unref(r);
	return status;
}

Test(dispatcher, role_may_do_what_lower_roles_may)
{
	static const enum role roles[] = {ROLE_VIEWER, ROLE_DRIVER, ROLE_OWNER};
	static const struct {
		enum method method;
		const char *path;
		unsigned least; /* index of roles */
		const char *code;
	} cases[] = {{METHOD_GET, "/healthz", 0, NULL}, {METHOD_GET, "/api/look", 0, NULL},
		{METHOD_POST, "/api/type", 1, "READ_ONLY"},
		{METHOD_POST, "/api/trust", 2, "PERMISSION_DENIED"},
		{METHOD_POST, "/api/own", 2, "PERMISSION_DENIED"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (unsigned n = 0; n < 3; n++) {
			bool may = n >= cases[i].least;
			unsigned before = handled;
			cr_expect_eq(call(cases[i].method, cases[i].path, AUTH_OK, roles[n], "",
					     may ? NULL : cases[i].code),
				may ? 200 : 403, "%s as %u", cases[i].path, n);
			cr_expect_eq(handled - before, may, "%s as %u", cases[i].path, n);
		}
	cr_assert_eq(module_seen, &module);
}

Test(dispatcher, trusted_drivers_may_call_trusted_routes)
{
	static const struct {
		const char *path;
		enum role role;
		int trusted, otherwise;
	} cases[] = {{"/api/trust", ROLE_VIEWER, 403, 403}, {"/api/trust", ROLE_DRIVER, 200, 403},
		{"/api/trust", ROLE_OWNER, 200, 200}, {"/api/own", ROLE_DRIVER, 403, 403},
		{"/api/own", ROLE_OWNER, 200, 200}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (unsigned trusted = 0; trusted < 2; trusted++) {
			const struct access a = {.drivers_may_all = trusted};
			const struct principal p = {.role = cases[i].role};
			cr_expect_eq(access_may(&a, &p,
					     strcmp(cases[i].path, "/api/own") == 0
						     ? ROUTE_OWNER
						     : ROUTE_OWNER_OR_TRUSTED),
				(trusted ? cases[i].trusted : cases[i].otherwise) == 200, "%zu", i);
		}
}

Test(access_session, link_has_its_own_session_only)
{
	const struct principal owner = {.role = ROLE_OWNER};
	const struct principal link = {.role = ROLE_DRIVER, .session = "mine"};
	const char *id = "unset";
	cr_assert(access_session(&owner, NULL, &id));
	cr_assert_null(id);
	cr_assert(access_session(&owner, "any", &id));
	cr_assert_str_eq(id, "any");
	cr_assert(access_session(&link, NULL, &id));
	cr_assert_str_eq(id, "mine");
	cr_assert(access_session(&link, "mine", &id));
	cr_assert_not(access_session(&link, "other", &id));
	cr_assert_not(access_session(&link, "", &id));
	cr_assert_str_eq(id, "mine", "untouched");
}

Test(dispatcher, without_credentials_only_public_routes)
{
	cr_assert_eq(call(METHOD_GET, "/healthz", AUTH_MISSING, ROLE_OWNER, "", NULL), 200);
	cr_assert_eq(call(METHOD_GET, "/api/look", AUTH_MISSING, ROLE_OWNER, "", "UNAUTHENTICATED"),
		401);
	cr_assert_eq(
		call(METHOD_GET, "/api/look", AUTH_WRONG, ROLE_OWNER, "", "UNAUTHENTICATED"), 401);
	cr_assert_eq(
		call(METHOD_GET, "/api/look", AUTH_LIMITED, ROLE_OWNER, "", "TOO_MANY_ATTEMPTS"),
		429);
	cr_assert_eq(metrics.auth_failures, 2);
	cr_assert_eq(metrics.auth_limited, 1);
	cr_assert_eq(handled, 1);
}

Test(dispatcher, unknown_routes)
{
	cr_assert_eq(
		call(METHOD_POST, "/api/look", AUTH_OK, ROLE_OWNER, "", "METHOD_NOT_ALLOWED"), 405);
	cr_assert_eq(
		call(METHOD_GET, "/api/nothing", AUTH_OK, ROLE_OWNER, "", "UNKNOWN_ERROR"), 404);
	cr_assert_eq(call(METHOD_GET, "/page", AUTH_MISSING, ROLE_OWNER, "", "UNKNOWN_ERROR"), 404);
	cr_assert_eq(handled, 0);
	cr_assert_eq(metrics.http_requests, 3);
}

Test(dispatcher, guest_cannot_find_out_whether_another_session_exists)
{
	cr_assert_eq(
		call(METHOD_GET, "/api/session/s", AUTH_OK, ROLE_OWNER, "", "SESSION_NOT_FOUND"),
		404);
	cr_assert_eq(
		call(METHOD_GET, "/api/session/s", AUTH_OK, ROLE_DRIVER, "t", "PERMISSION_DENIED"),
		403);
	cr_assert_eq(handled, 0);
}

Test(dispatcher_admit, decides_without_a_body_and_calls_no_handler)
{
	static const struct {
		const char *path;
		enum auth_result auth;
		enum role role;
		int status; /* 0: admitted */
	} cases[] = {{"/api/type", AUTH_MISSING, ROLE_OWNER, 401},
		{"/api/type", AUTH_LIMITED, ROLE_OWNER, 429},
		{"/api/type", AUTH_OK, ROLE_VIEWER, 403}, {"/api/type", AUTH_OK, ROLE_DRIVER, 0},
		{"/api/look", AUTH_OK, ROLE_OWNER, 405}, {"/api/none", AUTH_OK, ROLE_OWNER, 404}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dispatcher d = {.sessions = &sessions, .metrics = &metrics};
		struct request *r = request_create();
		routes_add(&d.routes, rows, &module);
		r->method = METHOD_POST;
		r->path = strdup(cases[i].path);
		r->auth = cases[i].auth;
		r->principal.role = cases[i].role;
		unsigned before = handled;
		cr_expect_eq(dispatcher_admit(&d, r), cases[i].status == 0, "%s", cases[i].path);
		cr_expect_eq(r->done ? r->reply.status : 0, cases[i].status, "%s", cases[i].path);
		cr_expect_eq(handled, before);
		request_unref(r);
	}
}
