#include "ws/route.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two modules. The one with parameters is registered before fixed routes that it would match. */
static const struct route_row of_one[] = {
	{.method = METHOD_GET, .path = "/api/session/{}"},
	{.method = METHOD_POST, .path = "/api/session/{}/rename"},
	{.method = METHOD_GET, .path = "/api/session/{}/links"},
	{.method = METHOD_POST, .path = "/api/session/{}/links"},
	{.method = METHOD_DELETE, .path = "/api/session/{}/links/{}"},
	{.path = NULL},
};

static const struct route_row fixed[] = {
	{.method = METHOD_GET, .path = "/healthz"},
	{.method = METHOD_GET, .path = "/api/ping"},
	{.method = METHOD_POST, .path = "/api/auth/login"},
	{.method = METHOD_POST, .path = "/api/session/create"},
	{.method = METHOD_GET, .path = "/api/session/list"},
	{.path = NULL},
};

static const struct route_row with_rest[] = {
	{.method = METHOD_GET, .path = "/api/file/{}", .rest = true},
	{.path = NULL},
};

Test(route_parse, rest_has_slashes_and_may_be_empty)
{
	static const struct {
		const char *path;
		enum method method;
		enum route_result want;
	} cases[] = {{"/api/file/a", METHOD_GET, ROUTE_FOUND},
		{"/api/file/a/b//c/", METHOD_GET, ROUTE_FOUND},
		{"/api/file//etc", METHOD_GET, ROUTE_FOUND}, {"/api/file/", METHOD_GET, ROUTE_FOUND},
		{"/api/file", METHOD_GET, ROUTE_NONE}, {"/api/files/a", METHOD_GET, ROUTE_NONE},
		{"/api/file/a/b", METHOD_PUT, ROUTE_OTHER_METHOD}};
	struct routes all = {.count = 0};
	struct route_match m;
	routes_add(&all, with_rest, NULL);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		route_parse(&all, cases[i].method, cases[i].path, &m);
		cr_expect_eq(m.result, cases[i].want, "%s", cases[i].path);
	}
}

static int one, two;

static const struct routes *table(void)
{
	static struct routes routes;
	if (routes.count == 0) {
		routes_add(&routes, of_one, &one);
		routes_add(&routes, fixed, &two);
	}
	return &routes;
}

static const struct {
	enum method method;
	const char *path;
	enum route_result result;
	const char *row; /* its path */
	const char *session, *link;
} cases[] = {
	{METHOD_GET, "/healthz", ROUTE_FOUND, "/healthz", "", ""},
	{METHOD_GET, "/api/ping", ROUTE_FOUND, "/api/ping", "", ""},
	{METHOD_POST, "/api/session/create", ROUTE_FOUND, "/api/session/create", "", ""},
	{METHOD_GET, "/api/session/list", ROUTE_FOUND, "/api/session/list", "", ""},
	{METHOD_GET, "/api/session/main", ROUTE_FOUND, "/api/session/{}", "main", ""},
	{METHOD_GET, "/api/session/a.b:c@d-e_f", ROUTE_FOUND, "/api/session/{}", "a.b:c@d-e_f", ""},
	{METHOD_POST, "/api/session/main/rename", ROUTE_FOUND, "/api/session/{}/rename", "main", ""},
	{METHOD_GET, "/api/session/main/links", ROUTE_FOUND, "/api/session/{}/links", "main", ""},
	{METHOD_POST, "/api/session/main/links", ROUTE_FOUND, "/api/session/{}/links", "main", ""},
	{METHOD_DELETE, "/api/session/main/links/12ab", ROUTE_FOUND, "/api/session/{}/links/{}",
		"main", "12ab"},

	/* Names of fixed routes are valid ids too, but only where the fixed route does not match. */
	{METHOD_POST, "/api/session/list/rename", ROUTE_FOUND, "/api/session/{}/rename", "list", ""},
	{METHOD_GET, "/api/session/create", ROUTE_FOUND, "/api/session/{}", "create", ""},

	{METHOD_POST, "/api/session/list", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_POST, "/api/ping", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_GET, "/api/auth/login", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_GET, "/api/session/main/rename", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_PUT, "/api/session/main/links", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_GET, "/api/session/main/links/12", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_OTHER, "/healthz", ROUTE_OTHER_METHOD, NULL, "", ""},

	{METHOD_GET, "/api", ROUTE_PAGE, NULL, "", ""},
	{METHOD_GET, "/api/", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/unknown", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session/", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session//links", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session/main/", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session/main/links/", ROUTE_NONE, NULL, "", ""},
	{METHOD_DELETE, "/api/session/main/links/a/b", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/session/main/nothing", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/api/pingx", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/API/ping", ROUTE_PAGE, NULL, "", ""},
	{METHOD_GET, "/ws", ROUTE_NONE, NULL, "", ""},
	{METHOD_GET, "/ws/pty", ROUTE_NONE, NULL, "", ""},

	{METHOD_GET, "/", ROUTE_PAGE, NULL, "", ""},
	{METHOD_GET, "/index.html", ROUTE_PAGE, NULL, "", ""},
	{METHOD_GET, "/../etc/passwd", ROUTE_PAGE, NULL, "", ""},
	{METHOD_POST, "/", ROUTE_OTHER_METHOD, NULL, "", ""},
	{METHOD_GET, "", ROUTE_PAGE, NULL, "", ""},
};

Test(route_parse, table)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct route_match m;
		memset(&m, 0x55, sizeof m);
		route_parse(table(), cases[i].method, cases[i].path, &m);
		cr_expect_eq(m.result, cases[i].result, "%s: %d", cases[i].path, m.result);
		cr_expect_eq(m.row != NULL, cases[i].row != NULL, "%s", cases[i].path);
		cr_expect_str_eq(m.id, cases[i].session, "%s: session %s", cases[i].path, m.id);
		cr_expect_str_eq(m.item, cases[i].link, "%s: link %s", cases[i].path, m.item);
		if (!m.row || !cases[i].row)
			continue;
		cr_expect_str_eq(m.row->path, cases[i].row, "%s: %s", cases[i].path, m.row->path);
		cr_expect_eq(m.row->method, cases[i].method, "%s", cases[i].path);
		cr_expect_eq(m.module, strstr(m.row->path, "{}") ? &one : &two, "%s", cases[i].path);
	}
}

Test(route_parse, longest_segment_and_a_longer_one)
{
	struct route_match m;
	char path[300] = "/api/session/";
	memset(path + 13, 'x', NAME_ID_MAX);
	route_parse(table(), METHOD_GET, path, &m);
	cr_assert_eq(m.result, ROUTE_FOUND);
	cr_assert_eq(strlen(m.id), NAME_ID_MAX);
	path[13 + NAME_ID_MAX] = 'x';
	route_parse(table(), METHOD_GET, path, &m);
	cr_assert_eq(m.result, ROUTE_NONE);
	cr_assert_str_eq(m.id, "");
}

Test(method_parse, table)
{
	cr_assert_eq(method_parse("GET"), METHOD_GET);
	cr_assert_eq(method_parse("get"), METHOD_OTHER);
	cr_assert_eq(method_parse("HEAD"), METHOD_OTHER);
	cr_assert_eq(method_parse("GETX"), METHOD_OTHER);
	cr_assert_eq(method_parse(""), METHOD_OTHER);
}

Test(method_name, is_parsed_back)
{
	for (enum method m = METHOD_GET; m < METHOD_OTHER; m++)
		cr_assert_eq(method_parse(method_name(m)), m);
	cr_assert_null(method_name(METHOD_OTHER));
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
		{"/api/session/create", "GET, HEAD, POST"}, /* a session may be called so */
		{"/", "GET, HEAD"},
		{"/assets/x.js", "GET, HEAD"},
		{"/api/nothing", ""},
		{"/ws", ""},
		{"", "GET, HEAD"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		char methods[ROUTE_METHODS_SIZE];
		route_methods(table(), wanted[i].path, methods);
		cr_expect_str_eq(methods, wanted[i].methods, "%s: %s", wanted[i].path, methods);
	}
}
