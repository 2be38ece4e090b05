/* Parses a path argument: a file of a session, a local file, or a standard stream. Pure. */
#pragma once

#include <stdbool.h>

#define PLACE_SESSION_MAX 128u /* bytes of a session's id */

/* A parsed argument. */
struct place {
	enum { PLACE_HERE, PLACE_STANDARD, PLACE_SESSION } kind;
	const char *path;                    /* borrowed; "": the session's directory */
	char session[PLACE_SESSION_MAX + 1]; /* "": none is named */
};

/*
 * Parse [SESSION]:PATH, PATH or "-". As with scp, a colon behind a slash belongs to the path. text
 * is borrowed while ret is used. session: used for ":PATH"; may be NULL. Returns false if the
 * session's id is too long.
 */
bool place_parse(const char *text, const char *session, struct place *ret);

/* The place of a file of a session. Returns false if the session's id is too long. */
bool place_of_session(const char *path, const char *session, struct place *ret);

/* The last name in a path; "" if the path ends in a slash, "." or "..". Points into path. */
const char *place_name(const char *path);

/*
 * The API path of a file. parents: let the server make missing directories. Owned; NULL: out of
 * memory.
 */
char *place_url(const struct place *p, bool parents);
