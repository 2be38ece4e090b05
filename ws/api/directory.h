/*
 * The working directory that a request names: whether it can be entered is found out on a thread of the crew, for its disk may not
 * answer, and kept in r->directory (directory_check_cached()). The path is that of this machine by then, see workspace_take_cwd().
 */
#pragma once

#include "ws/api/api.h"

/* Goes on with r and its body, which is borrowed, and an object. */
typedef void directory_fn(struct api *a, struct request *r, json_t *body);

/*
 * Read the body of r, have its field `cwd` looked at, and then call fn; at once where it names none that can be looked at. It is
 * not called where r has been answered, or nobody waits for an answer any more: FILES_STUCK when too much waits for that disk.
 */
void directory_ask(struct api *a, struct request *r, directory_fn *fn);

/* The same of a body that has been read, and of cwd, which something else names; NULL is fine. */
void directory_ask_for(
	struct api *a, struct request *r, json_t *body, const char *cwd, directory_fn *fn);

/*
 * What they are made of: have cwd (NULL: none) looked at. fn gets false where r has been answered, or nobody waits: it only gives back
 * then what it has in user.
 */
void directory_look(struct api *a, struct request *r, const char *cwd,
	void (*fn)(void *user, bool looked), void *user);
