/*
 * Which row of the table of routes a request is for. Pure: it compares with the rows that modules have registered, and
 * calls none of their handlers; ws/dispatcher.h does.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct session;

enum method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_OTHER };

/*
 * Who may ask: each may also do what those before it may. WHO_OWNER_OR_TRUSTED is what whoever types into a shell could do
 * anyway, with the rights of its user: the owner, and drivers where --drivers-may-all trusts them (access_may()), each
 * with the session of the link (access_session()).
 */
enum route_who { WHO_ANYBODY, WHO_VIEWER, WHO_DRIVER, WHO_OWNER_OR_TRUSTED, WHO_OWNER };

/* One route. It has one of the two handlers, which answers r, now or later. */
struct route_row {
	enum method method;
	const char *path; /* "{}" takes a whole segment, two of them at most; NULL: the end of the rows */
	enum route_who who;
	void (*plain)(struct request *r);
	/* The first "{}" is the id of a session, which has been found, and which r may see. */
	void (*session)(struct request *r, struct session *s);
	/* The last "{}" takes all that follows, slashes too, which is then for the handler to find in r->path. */
	bool rest;
	/* The handler is called before the body has come, and takes it as it comes: see ws/upload.h. */
	bool upload;
	bool upload_slow;    /* which comes as slowly as its client likes */
	uint64_t upload_max; /* bytes of that; what is more is 413; 0: as many as come */
	size_t body_max;     /* bytes of a body that comes whole; 0: REQUEST_BODY_MAX */
	/* A POST that changes nothing, and may as well be asked again: for its answer there may be no room. */
	bool reads;
	/* It says nothing of anybody, to those who watch the server: whatever the Host header names, or without one. */
	bool probe;
};

#define ROUTES_SETS_MAX 64u

/* The table: the rows of all modules. Zero is an empty one. */
struct routes {
	struct {
		const struct route_row *rows;
		void *module;
	} sets[ROUTES_SETS_MAX];
	size_t count;
};

/* Register the rows of a module, which live for ever. module: what request->module is for their handlers. */
void routes_add(struct routes *all, const struct route_row *rows, void *module);

enum route_result {
	ROUTE_NONE,         /* no such path */
	ROUTE_OTHER_METHOD, /* the path exists, for other methods */
	ROUTE_PAGE,         /* perhaps an asset: GET of a path outside /api */
	ROUTE_FOUND
};

struct route_match {
	enum route_result result;
	const struct route_row *row; /* of ROUTE_FOUND, otherwise NULL */
	void *module;                /* that it belongs to */
	char id[NAME_ID_MAX + 1];    /* first {} of the path, a session or a process, or "" */
	char item[NAME_ID_MAX + 1];  /* second: a link, an exec or a block */
};

/* "GET" ... ; anything else is METHOD_OTHER. */
enum method method_parse(const char *name);

/* The reverse; METHOD_OTHER is NULL. */
const char *method_name(enum method method);

/* The methods that a decoded path takes, as a header has them: "GET, HEAD, POST"; "" when there is none. */
#define ROUTE_METHODS_SIZE 32u
void route_methods(const struct routes *all, const char *path, char ret_text[ROUTE_METHODS_SIZE]);

/*
 * Match a decoded path without its query. A segment that is too long matches nothing. A row that names the path goes
 * before one whose "{}" would take it.
 */
void route_parse(const struct routes *all, enum method method, const char *path,
	struct route_match *ret_match);
