/*
 * Matching of requests to rows of the table of routes. Pure: it compares with the rows that modules have registered;
 * ws/dispatcher.h calls the handlers.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct session;

/* Method of a request; HEAD is METHOD_GET. */
enum method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_OTHER };

/*
 * The role that a route requires; each includes the ones before it. ROUTE_OWNER_OR_TRUSTED is for what a driver could do by
 * typing into the shell: it permits the owner, and with --drivers-may-all also drivers (access_may()), each for the
 * session of its link (access_session()).
 */
enum route_access { ROUTE_PUBLIC, ROUTE_VIEWER, ROUTE_DRIVER, ROUTE_OWNER_OR_TRUSTED, ROUTE_OWNER };

/* The headers of enum request_header that a route's handler reads. */
enum route_headers {
	ROUTE_HEADERS_NONE,
	ROUTE_HEADERS_CONDITIONS, /* conditions and ranges (RFC 9110 13, 14) */
	ROUTE_HEADERS_MCP,
};

/* In a fleet: the node that answers the requests of a route, see ws/fleet/router.h. */
enum route_place {
	PLACE_SESSION, /* that of the session which the request names; if it names none, the node that was asked */
	PLACE_EXISTING,    /* the same, but the session is not made if it does not exist */
	PLACE_PROCESS,     /* that of the process whose id is the first "{}" */
	PLACE_NEW_SESSION, /* that of the session of the field "id"; a node is chosen for a new one */
	PLACE_NEW_PROCESS, /* the same for the field "processId", or that of the session of "sessionId" */
	PLACE_TOOL,        /* that of the session which a tool of MCP names */
	PLACE_LOGIN,       /* that of the link */
	PLACE_ALL,         /* all, and their answers are merged */
	PLACE_HERE,        /* the node that was asked */
};

/* One route. It has one of the two handlers, which answers r, now or later. */
struct route_row {
	enum method method;
	const char *path; /* "{}" matches a whole segment, at most two of them; NULL: the end of the rows */
	enum route_access access;
	/* Handler of a route without a session. */
	void (*plain)(struct request *r);
	/* Handler of a route whose first "{}" is a session's id; the session exists, and r may see it. */
	void (*session)(struct request *r, struct session *s);
	/* The last "{}" matches the rest of the path, slashes included; the handler finds it in r->path. */
	bool rest;
	/* The handler is called before the body has arrived, and receives it in pieces: see ws/upload.h. */
	bool upload;
	bool upload_slow; /* no minimum rate for such a body */
	uint64_t upload_max; /* its limit in bytes, beyond which it is answered with 413; 0: no limit */
	size_t body_max;     /* limit of a body that is received completely; 0: REQUEST_BODY_MAX */
	/* The page of a link for answering a prompt uses it, see struct principal. */
	bool prompt;
	/* A POST that changes nothing. It may be repeated, so its answer may be an error when memory is short. */
	bool reads;
	enum route_headers headers;
	enum route_place place;
	/* For load balancers and monitors: served with any Host header, or none. It reveals nothing about sessions. */
	bool probe;
};

#define ROUTES_SETS_MAX 64u

/* The table: the rows of all modules. Zeroed: empty. */
struct routes {
	struct {
		const struct route_row *rows;
		void *module;
	} sets[ROUTES_SETS_MAX];
	size_t count;
};

/* Register the rows of a module, which must stay valid. module: goes to route_match.module. */
void routes_add(struct routes *all, const struct route_row *rows, void *module);

/* Kind of a match. */
enum route_result {
	ROUTE_NONE,         /* no such path */
	ROUTE_OTHER_METHOD, /* the path exists, for other methods */
	ROUTE_PAGE,         /* perhaps an asset: GET of a path outside /api */
	ROUTE_FOUND
};

/* The row that a request matches, and the variable parts of its path. */
struct route_match {
	enum route_result result;
	const struct route_row *row; /* of ROUTE_FOUND, otherwise NULL */
	void *module;                /* of the row */
	char id[NAME_ID_MAX + 1]; /* first {} of the path, such as a session or a process, or "" */
	char item[NAME_ID_MAX + 1]; /* second {}, such as a link, an exec or a block, or "" */
};

/* Parse "GET" and the like; an unknown method is METHOD_OTHER. */
enum method method_parse(const char *name);

/* The name of a method; NULL for METHOD_OTHER. */
const char *method_name(enum method method);

#define ROUTE_METHODS_SIZE 32u

/* Write the methods of a decoded path as for an Allow header, "GET, HEAD, POST"; "" if there is none. */
void route_methods(const struct routes *all, const char *path, char ret_text[ROUTE_METHODS_SIZE]);

/*
 * Match a decoded path without its query. A segment longer than an id matches nothing. A row with a literal path is
 * preferred to one whose "{}" would match it.
 */
void route_parse(const struct routes *all, enum method method, const char *path,
	struct route_match *ret_match);
