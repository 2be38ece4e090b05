#include "ws/route.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
	enum method method;
	const char *path;
	enum route route;
	const char *session, *link;
} cases[] = {
	{METHOD_GET, "/healthz", ROUTE_HEALTH, "", ""},
	{METHOD_GET, "/metrics", ROUTE_METRICS, "", ""},
	{METHOD_GET, "/api/ping", ROUTE_PING, "", ""},
	{METHOD_GET, "/api/version", ROUTE_VERSION, "", ""},
	{METHOD_POST, "/api/auth/login", ROUTE_LOGIN, "", ""},
	{METHOD_POST, "/api/auth/logout", ROUTE_LOGOUT, "", ""},
	{METHOD_GET, "/api/auth/whoami", ROUTE_WHOAMI, "", ""},
	{METHOD_POST, "/api/session/create", ROUTE_SESSION_CREATE, "", ""},
	{METHOD_POST, "/api/session/open", ROUTE_SESSION_OPEN, "", ""},
	{METHOD_GET, "/api/session/list", ROUTE_SESSION_LIST, "", ""},
	{METHOD_POST, "/api/session/delete", ROUTE_SESSION_DELETE, "", ""},
	{METHOD_GET, "/api/session/events", ROUTE_SESSION_EVENTS, "", ""},
	{METHOD_GET, "/api/session/main", ROUTE_SESSION, "main", ""},
	{METHOD_GET, "/api/session/a.b:c@d-e_f", ROUTE_SESSION, "a.b:c@d-e_f", ""},
	{METHOD_POST, "/api/session/main/rename", ROUTE_SESSION_RENAME, "main", ""},
	{METHOD_POST, "/api/session/main/resize", ROUTE_SESSION_RESIZE, "main", ""},
	{METHOD_POST, "/api/session/main/size", ROUTE_SESSION_SIZE, "main", ""},
	{METHOD_GET, "/api/session/main/screen", ROUTE_SESSION_SCREEN, "main", ""},
	{METHOD_GET, "/api/session/main/scrollback", ROUTE_SESSION_SCROLLBACK, "main", ""},
	{METHOD_GET, "/api/session/main/search", ROUTE_SESSION_SEARCH, "main", ""},
	{METHOD_POST, "/api/session/main/signal", ROUTE_SESSION_SIGNAL, "main", ""},
	{METHOD_POST, "/api/session/main/input", ROUTE_SESSION_INPUT, "main", ""},
	{METHOD_GET, "/api/session/main/output", ROUTE_SESSION_OUTPUT, "main", ""},
	{METHOD_GET, "/api/session/main/links", ROUTE_LINKS, "main", ""},
	{METHOD_POST, "/api/session/main/links", ROUTE_LINKS_CREATE, "main", ""},
	{METHOD_DELETE, "/api/session/main/links/12ab", ROUTE_LINK_DELETE, "main", "12ab"},

	/* Names of fixed routes are also ids, but only where the fixed route does not apply. */
	{METHOD_POST, "/api/session/list/rename", ROUTE_SESSION_RENAME, "list", ""},
	{METHOD_GET, "/api/session/create", ROUTE_SESSION, "create", ""},

	{METHOD_POST, "/api/session/list", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_POST, "/api/ping", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_GET, "/api/auth/login", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_GET, "/api/session/main/rename", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_PUT, "/api/session/main/links", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_GET, "/api/session/main/links/12", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_OTHER, "/healthz", ROUTE_OTHER_METHOD, "", ""},

	{METHOD_GET, "/api", ROUTE_PAGE, "", ""},
	{METHOD_GET, "/api/", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/unknown", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session/", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session//links", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session/main/", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session/main/links/", ROUTE_NONE, "", ""},
	{METHOD_DELETE, "/api/session/main/links/a/b", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/session/main/nothing", ROUTE_NONE, "", ""},
	{METHOD_GET, "/api/pingx", ROUTE_NONE, "", ""},
	{METHOD_GET, "/API/ping", ROUTE_PAGE, "", ""},
	{METHOD_GET, "/ws", ROUTE_NONE, "", ""},
	{METHOD_GET, "/ws/pty", ROUTE_NONE, "", ""},

	{METHOD_GET, "/", ROUTE_PAGE, "", ""},
	{METHOD_GET, "/index.html", ROUTE_PAGE, "", ""},
	{METHOD_GET, "/../etc/passwd", ROUTE_PAGE, "", ""},
	{METHOD_POST, "/", ROUTE_OTHER_METHOD, "", ""},
	{METHOD_GET, "", ROUTE_PAGE, "", ""},
};

Test(route_parse, table)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct route_match m;
		memset(&m, 0x55, sizeof m);
		route_parse(cases[i].method, cases[i].path, &m);
		cr_expect_eq(m.route, cases[i].route, "%s: %d", cases[i].path, m.route);
		cr_expect_str_eq(m.id, cases[i].session, "%s: session %s", cases[i].path, m.id);
		cr_expect_str_eq(m.item, cases[i].link, "%s: link %s", cases[i].path, m.item);
	}
}

Test(route_parse, longest_segment_and_one_that_is_longer)
{
	struct route_match m;
	char path[300] = "/api/session/";
	memset(path + 13, 'x', NAME_ID_MAX);
	route_parse(METHOD_GET, path, &m);
	cr_assert_eq(m.route, ROUTE_SESSION);
	cr_assert_eq(strlen(m.id), NAME_ID_MAX);
	path[13 + NAME_ID_MAX] = 'x';
	route_parse(METHOD_GET, path, &m);
	cr_assert_eq(m.route, ROUTE_NONE);
	cr_assert_str_eq(m.id, "");
}

Test(method_parse, table)
{
	cr_assert_eq(method_parse("GET"), METHOD_GET);
	cr_assert_eq(method_parse("POST"), METHOD_POST);
	cr_assert_eq(method_parse("PUT"), METHOD_PUT);
	cr_assert_eq(method_parse("DELETE"), METHOD_DELETE);
	cr_assert_eq(method_parse("get"), METHOD_OTHER);
	cr_assert_eq(method_parse("HEAD"), METHOD_OTHER);
	cr_assert_eq(method_parse("GETX"), METHOD_OTHER);
	cr_assert_eq(method_parse(""), METHOD_OTHER);
}

Test(route_methods, table)
{
	static const struct {
		const char *path, *methods;
	} wanted[] = {
		{"/api/session/list", "GET, HEAD"},
		{"/api/auth/login", "POST"},
		{"/api/session/s/links", "GET, HEAD, POST"},
		{"/api/session/s/links/l", "DELETE"},
		{"/api/session/create", "GET, HEAD, POST"}, /* a session may have that name */
		{"/", "GET, HEAD"},
		{"/assets/x.js", "GET, HEAD"},
		{"/api/nothing", ""},
		{"/ws", ""},
		{"", "GET, HEAD"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		char methods[ROUTE_METHODS_SIZE];
		route_methods(wanted[i].path, methods);
		cr_expect_str_eq(methods, wanted[i].methods, "%s: %s", wanted[i].path, methods);
	}
}
