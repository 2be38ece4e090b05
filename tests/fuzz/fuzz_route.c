/* Requests' paths. Input: a method, a newline, the path. What was found must lead back to the path. */
#include "tests/fuzz/fuzz.h"
#include "ws/route.h"

/* Paths with their first and second {}. */
static const char *const formats[] = {
	[ROUTE_HEALTH] = "/healthz",
	[ROUTE_METRICS] = "/metrics",
	[ROUTE_PING] = "/api/ping",
	[ROUTE_VERSION] = "/api/version",
	[ROUTE_LOGIN] = "/api/auth/login",
	[ROUTE_LOGOUT] = "/api/auth/logout",
	[ROUTE_WHOAMI] = "/api/auth/whoami",
	[ROUTE_SESSION_CREATE] = "/api/session/create",
	[ROUTE_SESSION_OPEN] = "/api/session/open",
	[ROUTE_SESSION_LIST] = "/api/session/list",
	[ROUTE_SESSION_DELETE] = "/api/session/delete",
	[ROUTE_SESSION_EVENTS] = "/api/session/events",
	[ROUTE_SESSION] = "/api/session/{}",
	[ROUTE_SESSION_RENAME] = "/api/session/{}/rename",
	[ROUTE_SESSION_RESIZE] = "/api/session/{}/resize",
	[ROUTE_SESSION_SIZE] = "/api/session/{}/size",
	[ROUTE_SESSION_SCREEN] = "/api/session/{}/screen",
	[ROUTE_SESSION_SCROLLBACK] = "/api/session/{}/scrollback",
	[ROUTE_SESSION_SEARCH] = "/api/session/{}/search",
	[ROUTE_SESSION_SIGNAL] = "/api/session/{}/signal",
	[ROUTE_SESSION_INPUT] = "/api/session/{}/input",
	[ROUTE_SESSION_OUTPUT] = "/api/session/{}/output",
	[ROUTE_LINKS] = "/api/session/{}/links",
	[ROUTE_LINKS_CREATE] = "/api/session/{}/links",
	[ROUTE_LINK_DELETE] = "/api/session/{}/links/{}",
};

static void expect_path(const struct route_match *m, const char *path)
{
	char built[512] = "";
	const char *captures[] = {m->id, m->item};
	unsigned captured = 0;
	FUZZ_CHECK((size_t)m->route < sizeof formats / sizeof *formats && formats[m->route]);
	for (const char *p = formats[m->route]; *p; p++) {
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
	FUZZ_CHECK((method == METHOD_GET) == (strcmp(name, "GET") == 0));
	memset(&m, 0xff, sizeof m);
	route_parse(method, path, &m);
	if (m.route == ROUTE_PAGE || m.route == ROUTE_NONE || m.route == ROUTE_OTHER_METHOD) {
		bool api = strncmp(path, "/api/", 5) == 0;
		FUZZ_CHECK(!m.id[0] && !m.item[0]);
		FUZZ_CHECK(m.route != ROUTE_PAGE || (method == METHOD_GET && !api));
	} else {
		FUZZ_CHECK(method != METHOD_OTHER && method != METHOD_PUT);
		expect_path(&m, path);
	}
	free(path);
	free(name);
	return 0;
}
