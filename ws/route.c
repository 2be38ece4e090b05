/* Patterns are compared segment by segment; "{}" takes a whole one. */
#include "ws/route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct pattern {
	enum method method;
	const char *path;
	enum route route;
};

static const struct pattern patterns[] = {
	{METHOD_GET, "/healthz", ROUTE_HEALTH},
	{METHOD_GET, "/metrics", ROUTE_METRICS},
	{METHOD_POST, "/mcp", ROUTE_MCP},
	{METHOD_DELETE, "/mcp", ROUTE_MCP},
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
	{METHOD_POST, "/api/session/{}/keys", ROUTE_SESSION_KEYS},
	{METHOD_GET, "/api/session/{}/typed", ROUTE_SESSION_TYPED},
	{METHOD_GET, "/api/session/{}/lease", ROUTE_LEASE},
	{METHOD_POST, "/api/session/{}/lease", ROUTE_LEASE_TAKE},
	{METHOD_DELETE, "/api/session/{}/lease", ROUTE_LEASE_GIVE_BACK},
	{METHOD_GET, "/api/session/{}/output", ROUTE_SESSION_OUTPUT},
	{METHOD_GET, "/api/session/{}/screen", ROUTE_SESSION_SCREEN},
	{METHOD_GET, "/api/session/{}/state", ROUTE_SESSION_STATE},
	{METHOD_POST, "/api/session/{}/wait", ROUTE_SESSION_WAIT},
	{METHOD_GET, "/api/session/{}/scrollback", ROUTE_SESSION_SCROLLBACK},
	{METHOD_GET, "/api/session/{}/search", ROUTE_SESSION_SEARCH},
	{METHOD_GET, "/api/session/{}/links", ROUTE_LINKS},
	{METHOD_POST, "/api/session/{}/links", ROUTE_LINKS_CREATE},
	{METHOD_DELETE, "/api/session/{}/links/{}", ROUTE_LINK_DELETE},
	{METHOD_POST, "/api/session/{}/exec", ROUTE_SESSION_EXEC},
	{METHOD_GET, "/api/session/{}/exec", ROUTE_SESSION_EXECS},
	{METHOD_GET, "/api/session/{}/exec/{}", ROUTE_EXEC},
	{METHOD_GET, "/api/session/{}/exec/{}/output", ROUTE_EXEC_OUTPUT},
	{METHOD_GET, "/api/session/{}/exec/{}/stream", ROUTE_EXEC_STREAM},
	{METHOD_POST, "/api/session/{}/exec/{}/cancel", ROUTE_EXEC_CANCEL},
	{METHOD_GET, "/api/session/{}/blocks", ROUTE_BLOCKS},
	{METHOD_GET, "/api/session/{}/blocks/{}", ROUTE_BLOCK},
	{METHOD_GET, "/api/session/{}/blocks/{}/output", ROUTE_BLOCK_OUTPUT},
	{METHOD_GET, "/api/session/{}/stream", ROUTE_SESSION_STREAM},
	{METHOD_POST, "/api/execute", ROUTE_EXECUTE},
	{METHOD_POST, "/api/execute/stream", ROUTE_EXECUTE_STREAM},
	{METHOD_POST, "/api/run", ROUTE_RUN},
	{METHOD_POST, "/api/stdin", ROUTE_STDIN},
	{METHOD_POST, "/api/process/start", ROUTE_PROCESS_START},
	{METHOD_GET, "/api/process/list", ROUTE_PROCESS_LIST},
	{METHOD_DELETE, "/api/process/kill-all", ROUTE_PROCESS_KILL_ALL},
	{METHOD_GET, "/api/process/{}", ROUTE_PROCESS},
	{METHOD_DELETE, "/api/process/{}", ROUTE_PROCESS_KILL},
	{METHOD_GET, "/api/process/{}/logs", ROUTE_PROCESS_LOGS},
	{METHOD_GET, "/api/process/{}/stream", ROUTE_PROCESS_STREAM},
	{METHOD_GET, "/api/process/{}/output", ROUTE_PROCESS_OUTPUT},
	{METHOD_POST, "/api/process/{}/input", ROUTE_PROCESS_INPUT},
	{METHOD_POST, "/api/process/{}/signal", ROUTE_PROCESS_SIGNAL},
	{METHOD_POST, "/api/process/{}/wait", ROUTE_PROCESS_WAIT},
	{METHOD_POST, "/api/port-watch", ROUTE_PORT_WATCH},
	{METHOD_GET, "/api/commands", ROUTE_COMMANDS},
	{METHOD_GET, "/api/openapi.json", ROUTE_OPENAPI},
	{METHOD_POST, "/api/read", ROUTE_LATER},
	{METHOD_POST, "/api/read/stream", ROUTE_LATER},
	{METHOD_POST, "/api/write", ROUTE_LATER},
	{METHOD_POST, "/api/delete", ROUTE_LATER},
	{METHOD_POST, "/api/rename", ROUTE_LATER},
	{METHOD_POST, "/api/move", ROUTE_LATER},
	{METHOD_POST, "/api/mkdir", ROUTE_LATER},
	{METHOD_POST, "/api/list-files", ROUTE_LATER},
	{METHOD_POST, "/api/exists", ROUTE_LATER},
	{METHOD_POST, "/api/watch", ROUTE_LATER},
	{METHOD_POST, "/api/watch/check", ROUTE_LATER},
	{METHOD_POST, "/api/git/checkout", ROUTE_LATER},
	{METHOD_GET, "/api/interpreter/health", ROUTE_LATER},
	{METHOD_POST, "/api/contexts", ROUTE_LATER},
	{METHOD_GET, "/api/contexts", ROUTE_LATER},
	{METHOD_DELETE, "/api/contexts/{}", ROUTE_LATER},
	{METHOD_POST, "/api/execute/code", ROUTE_LATER},
	{METHOD_POST, "/api/backup/create", ROUTE_LATER},
	{METHOD_POST, "/api/backup/restore", ROUTE_LATER},
	{METHOD_POST, "/api/backup/upload-parts", ROUTE_LATER},
};

static const char *const method_names[] = {"GET", "POST", "PUT", "DELETE"};

enum method method_parse(const char *name)
{
	for (unsigned i = 0; i < sizeof method_names / sizeof *method_names; i++)
		if (strcmp(name, method_names[i]) == 0)
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
	char *captures[] = {m->id, m->item};
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
		if (!m.id[0] || strchr(patterns[i].path, '}')[1])
			found = ROUTE_OTHER_METHOD;
	}
	if (found == ROUTE_NONE && strncmp(path, "/api/", 5) != 0 && strncmp(path, "/ws", 3) != 0)
		found = method == METHOD_GET ? ROUTE_PAGE : ROUTE_OTHER_METHOD;
	*ret_match = (struct route_match){.route = found};
}

void route_methods(const char *path, char ret_text[ROUTE_METHODS_SIZE])
{
	ret_text[0] = '\0';
	for (unsigned i = 0; i < sizeof method_names / sizeof *method_names; i++) {
		struct route_match m;
		route_parse((enum method)i, path, &m);
		if (m.route == ROUTE_NONE || m.route == ROUTE_OTHER_METHOD)
			continue;
		size_t length = strlen(ret_text);
		snprintf(ret_text + length, ROUTE_METHODS_SIZE - length, "%s%s%s",
			length > 0 ? ", " : "", method_names[i], i == METHOD_GET ? ", HEAD" : "");
	}
}
