/* Which handler a request is for. Pure. */
#pragma once

#include "shell/name.h"

#include <stdbool.h>

enum method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_OTHER };

enum route {
	ROUTE_NONE,         /* no such path */
	ROUTE_OTHER_METHOD, /* the path exists, for other methods */
	ROUTE_PAGE,         /* perhaps an asset: GET of a path outside /api */
	ROUTE_HEALTH,
	ROUTE_METRICS,
	ROUTE_MCP,
	ROUTE_PING,
	ROUTE_VERSION,
	ROUTE_LOGIN,
	ROUTE_LOGOUT,
	ROUTE_WHOAMI,
	ROUTE_SESSION_CREATE,
	ROUTE_SESSION_OPEN,
	ROUTE_SESSION_LIST,
	ROUTE_SESSION_DELETE,
	ROUTE_SESSION_EVENTS,
	ROUTE_SESSION,
	ROUTE_SESSION_RENAME,
	ROUTE_SESSION_RESIZE,
	ROUTE_SESSION_SIZE,
	ROUTE_SESSION_SIGNAL,
	ROUTE_SESSION_INPUT,
	ROUTE_SESSION_KEYS,
	ROUTE_SESSION_TYPED,
	ROUTE_LEASE,
	ROUTE_LEASE_TAKE,
	ROUTE_LEASE_GIVE_BACK,
	ROUTE_SESSION_OUTPUT,
	ROUTE_SESSION_SCREEN,
	ROUTE_SESSION_STATE,
	ROUTE_SESSION_WAIT,
	ROUTE_SESSION_SCROLLBACK,
	ROUTE_SESSION_SEARCH,
	ROUTE_LINKS,
	ROUTE_LINKS_CREATE,
	ROUTE_LINK_DELETE,
	ROUTE_SESSION_EXEC,
	ROUTE_SESSION_EXECS,
	ROUTE_EXEC,
	ROUTE_EXEC_OUTPUT,
	ROUTE_EXEC_STREAM,
	ROUTE_EXEC_CANCEL,
	ROUTE_BLOCKS,
	ROUTE_BLOCK,
	ROUTE_BLOCK_OUTPUT,
	ROUTE_SESSION_STREAM,
	ROUTE_EXECUTE,
	ROUTE_EXECUTE_STREAM,
	ROUTE_RUN,
	ROUTE_STDIN,
	ROUTE_PROCESS_START,
	ROUTE_PROCESS_LIST,
	ROUTE_PROCESS_KILL_ALL,
	ROUTE_PROCESS,
	ROUTE_PROCESS_KILL,
	ROUTE_PROCESS_LOGS,
	ROUTE_PROCESS_STREAM,
	ROUTE_PROCESS_OUTPUT,
	ROUTE_PROCESS_INPUT,
	ROUTE_PROCESS_SIGNAL,
	ROUTE_PROCESS_WAIT,
	ROUTE_PORT_WATCH,
	ROUTE_COMMANDS,
	ROUTE_OPENAPI,
	ROUTE_LATER, /* of the container's protocol, not served yet */
};

struct route_match {
	enum route route;
	char id[NAME_ID_MAX + 1];   /* first {} of the pattern, a session or a process, or "" */
	char item[NAME_ID_MAX + 1]; /* second: a link, an exec or a block */
};

/* "GET" ... ; anything else is METHOD_OTHER. */
enum method method_parse(const char *name);

/* The methods that a decoded path takes, as a header has them: "GET, HEAD, POST"; "" when there is none. */
#define ROUTE_METHODS_SIZE 32u
void route_methods(const char *path, char ret_text[ROUTE_METHODS_SIZE]);

/* Match a decoded path without its query. A segment that is too long matches nothing. */
void route_parse(enum method method, const char *path, struct route_match *ret_match);
