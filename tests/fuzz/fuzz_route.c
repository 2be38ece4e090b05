/* Paths of requests. Input: a method, a newline, the path. A match must lead back to the path. */
#include "tests/fuzz/fuzz.h"
#include "ws/api/api.h"
#include "ws/mcp/mcp.h"
#include "ws/route.h"

static void expect_path(const struct route_match *m, const char *path)
{
	char built[512] = "";
	const char *captures[] = {m->id, m->item};
	unsigned captured = 0;
	for (const char *p = m->row->path; *p; p++) {
		size_t length = strlen(built);
		if (*p != '{') {
			built[length] = *p;
			continue;
		}
		const char *text = captures[captured++];
		FUZZ_CHECK(*text && strlen(text) <= NAME_ID_MAX && !strchr(text, '/'));
		strcpy(built + length, text);
		p++;
	}
	for (; captured < 2; captured++)
		FUZZ_CHECK(!*captures[captured]);
	FUZZ_CHECK(strcmp(built, path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *name = fuzz_text(&in, '\n'), *path = fuzz_text(&in, '\0');
	enum method method = method_parse(name);
	struct route_match m;
	static struct routes routes;
	if (routes.count == 0) {
		api_register(NULL, &routes);
		mcp_register(NULL, &routes);
	}
	FUZZ_CHECK((method == METHOD_GET) == (strcmp(name, "GET") == 0));
	memset(&m, 0xff, sizeof m);
	route_parse(&routes, method, path, &m);
	if (m.result != ROUTE_FOUND) {
		bool api = strncmp(path, "/api/", 5) == 0;
		FUZZ_CHECK(!m.row && !m.id[0] && !m.item[0]);
		FUZZ_CHECK(m.result != ROUTE_PAGE || (method == METHOD_GET && !api));
	} else {
		FUZZ_CHECK(m.row->method == method);
		FUZZ_CHECK(!m.row->plain != !m.row->session);
		expect_path(&m, path);
	}
	free(path);
	free(name);
	return 0;
}
