/* What a word of a command line names: a file of a session, one of ours, or a standard stream. Pure. */
#pragma once

#include <stdbool.h>

#define PLACE_SESSION_MAX 128u /* bytes of a session's id */

struct place {
	enum { PLACE_HERE, PLACE_STANDARD, PLACE_SESSION } kind;
	const char *path;                    /* borrowed; "" = the session's directory */
	char session[PLACE_SESSION_MAX + 1]; /* "" = none is named */
};

/*
 * Read [SESSION]:PATH, PATH or "-"; a colon behind a slash belongs to a path. text is borrowed for ret's life. session: where
 * none stands before the colon; NULL = none. Returns false when a session's id is too long.
 */
bool place_read(const char *text, const char *session, struct place *ret);

/* A file of a session. Returns false as above. */
bool place_of_session(const char *path, const char *session, struct place *ret);

/* The name of what a path leads to, within it: "" where it ends in a slash, and of "." and "..". */
const char *place_name(const char *path);

/* Its address at the API; parents: directories are to be made. Owned; NULL: no memory. */
char *place_url(const struct place *p, bool parents);
