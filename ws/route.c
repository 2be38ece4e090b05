/* Patterns are compared segment by segment; "{}" takes a whole one. */
#include "ws/route.h"

#include <assert.h>
#include <string.h>

struct pattern {
	enum method method;
	const char *path;
	enum route route;
};

static const struct pattern patterns[] = {
	{METHOD_GET, "/healthz", ROUTE_HEALTH},
	{METHOD_GET, "/metrics", ROUTE_METRICS},
	{METHOD_GET, "/api/ping", ROUTE_PING},
	{METHOD_GET, "/api/version", ROUTE_VERSION},
	{METHOD_POST, "/api/auth/login", ROUTE_LOGIN},
	{METHOD_POST, "/api/auth/logout", ROUTE_LOGOUT},
	{METHOD_GET, "/api/auth/whoami", ROUTE_WHOAMI},
	{METHOD_POST, "/api/session/create", ROUTE_SESSION_CREATE},
	{METHOD_POST, "/api/session/open", ROUTE_SESSION_OPEN},
	{METHOD_GET, "/api/session/list", ROUTE_SESSION_LIST},
	{METHOD_POST, "/api/session/delete", ROUTE_SESSION_DELETE},
	{METHOD_GET, "/api/session/events", ROUTE_SESSION_EVENTS},
	{METHOD_GET, "/api/session/{}", ROUTE_SESSION},
	{METHOD_POST, "/api/session/{}/rename", ROUTE_SESSION_RENAME},
	{METHOD_POST, "/api/session/{}/resize", ROUTE_SESSION_RESIZE},
	{METHOD_POST, "/api/session/{}/size", ROUTE_SESSION_SIZE},
	{METHOD_POST, "/api/session/{}/signal", ROUTE_SESSION_SIGNAL},
	{METHOD_POST, "/api/session/{}/input", ROUTE_SESSION_INPUT},
	{METHOD_GET, "/api/session/{}/output", ROUTE_SESSION_OUTPUT},
	{METHOD_GET, "/api/session/{}/screen", ROUTE_SESSION_SCREEN},
	{METHOD_GET, "/api/session/{}/scrollback", ROUTE_SESSION_SCROLLBACK},
	{METHOD_GET, "/api/session/{}/search", ROUTE_SESSION_SEARCH},
	{METHOD_GET, "/api/session/{}/links", ROUTE_LINKS},
	{METHOD_POST, "/api/session/{}/links", ROUTE_LINKS_CREATE},
	{METHOD_DELETE, "/api/session/{}/links/{}", ROUTE_LINK_DELETE},
};

enum method method_parse(const char *name)
{
	static const char *const names[] = {"GET", "POST", "PUT", "DELETE"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum method)i;
	return METHOD_OTHER;
}

static bool take(const char *path, size_t length, char *ret_text)
{
	if (length == 0 || length > NAME_ID_MAX)
		return false;
	memcpy(ret_text, path, length);
	ret_text[length] = '\0';
	return true;
}

static bool matches(const char *pattern, const char *path, struct route_match *m)
{
	char *captures[] = {m->session, m->link};
	unsigned captured = 0;
	while (*pattern && *path) {
		if (pattern[0] == '{') {
			size_t length = strcspn(path, "/");
			assert(captured < sizeof captures / sizeof *captures);
			if (!take(path, length, captures[captured++]))
				return false;
			path += length;
			pattern += 2;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	return !*pattern && !*path;
}

void route_parse(enum method method, const char *path, struct route_match *ret_match)
{
	enum route found = ROUTE_NONE;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct route_match m = {.route = patterns[i].route};
		if (!matches(patterns[i].path, path, &m))
			continue;
		if (patterns[i].method == method) {
			*ret_match = m;
			return;
		}
		/* "{}" also matches the names of fixed routes, which is no reason to call the method wrong. */
		if (!m.session[0] || strchr(patterns[i].path, '}')[1])
			found = ROUTE_OTHER_METHOD;
	}
	if (found == ROUTE_NONE && strncmp(path, "/api/", 5) != 0 && strncmp(path, "/ws", 3) != 0)
		found = method == METHOD_GET ? ROUTE_PAGE : ROUTE_OTHER_METHOD;
	*ret_match = (struct route_match){.route = found};
}
