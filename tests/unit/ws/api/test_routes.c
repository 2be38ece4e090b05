/* The table of routes, and the API's description of them. */
#include "tests/lib/openapi_find.h"
#include "ws/api/api.h"
#include "ws/mcp/mcp.h"
#include "ws/route.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

static const struct routes *table(void)
{
	static struct routes routes;
	if (routes.count == 0) {
		api_register(NULL, &routes);
		mcp_register(NULL, &routes);
	}
	return &routes;
}

/* The bridge has its own description, which bridge.test.mjs tests. */
static bool is_of_bridge(const struct route_row *row)
{
	return strncmp(row->path, "/v1/", 4) == 0 || strcmp(row->path, "/health") == 0;
}

Test(routes, each_route_is_described_with_its_access)
{
	static const char *const roles[] = {[ROUTE_PUBLIC] = "public",
		[ROUTE_VIEWER] = "viewer",
		[ROUTE_DRIVER] = "driver",
		[ROUTE_OWNER_OR_TRUSTED] = "trusted",
		[ROUTE_OWNER] = "owner"};
	json_t *document = openapi_load();
	unsigned count = 0;
	for (size_t i = 0; i < table()->count; i++) {
		for (const struct route_row *row = table()->sets[i].rows; row->path; row++, count++) {
			if (is_of_bridge(row))
				continue;
			const json_t *operation = openapi_find(document, row);
			cr_expect_not_null(operation, "%s %s is not described",
				method_name(row->method), row->path);
			const char *role = json_string_value(json_object_get(operation, "x-role"));
			cr_expect_str_eq(role ? role : "none", roles[row->access], "%s %s",
				method_name(row->method), row->path);
		}
	}
	cr_assert_gt(count, 40, "the rows were found");
	json_decref(document);
}

Test(routes, each_described_operation_has_a_route)
{
	json_t *document = openapi_load(), *item, *operation;
	const char *path, *name;
	char stripped[256], method[8];
	json_object_foreach (json_object_get(document, "paths"), path, item) {
		openapi_strip_names(path, stripped);
		json_object_foreach (item, name, operation) {
			struct route_match m;
			size_t n = strlen(name);
			cr_assert_lt(n, sizeof method);
			for (size_t i = 0; i <= n; i++)
				method[i] = (char)toupper(name[i]);
			/* A name in braces is a segment like any other. */
			route_parse(table(), method_parse(method), path, &m);
			cr_expect_eq(m.result, ROUTE_FOUND, "%s %s is no route", name, path);
			cr_expect_str_eq(
				m.row ? m.row->path : "none", stripped, "%s %s", name, path);
		}
	}
	json_decref(document);
}

Test(routes, each_route_is_unique_and_has_one_handler)
{
	for (size_t i = 0; i < table()->count; i++) {
		for (const struct route_row *row = table()->sets[i].rows; row->path; row++) {
			struct route_match m;
			cr_expect_neq(!row->plain, !row->session, "%s", row->path);
			cr_expect(!row->session || strncmp(row->path, "/api/session/{}", 15) == 0,
				"%s", row->path);
			route_parse(table(), row->method, row->path, &m);
			cr_expect_eq(m.row, row, "%s %s is there twice", method_name(row->method),
				row->path);
		}
	}
}
