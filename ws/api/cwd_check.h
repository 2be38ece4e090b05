/*
 * Checks on a crew thread that a request's working directory can be entered, because its disk may not respond. The
 * result is stored in r->directory (see directory_check_cached()).
 */
#pragma once

#include "ws/api/api.h"

/* Continue with r. body is a JSON object, borrowed. */
typedef void cwd_check_fn(struct api *a, struct request *r, json_t *body);

/*
 * Read the body of r, translate its field `cwd` to a path of this machine (workspace_translate_cwd()), check that directory,
 * and call fn. Without a `cwd` that can be checked, fn is called at once. fn is not called if r has been answered or
 * its client has disconnected. The answer is FILES_STUCK if too many requests already wait for that disk.
 */
void cwd_check_body(struct api *a, struct request *r, cwd_check_fn *fn);

/* Like cwd_check_body(), for a parsed body and a directory from elsewhere. cwd may be NULL. */
void cwd_check_path(
	struct api *a, struct request *r, json_t *body, const char *cwd, cwd_check_fn *fn);

/*
 * Check cwd (NULL: nothing to check) and call fn once, possibly from inside. goes_on is false if r has been answered or
 * its client has disconnected: fn must then only free user.
 */
void cwd_check(struct api *a, struct request *r, const char *cwd,
	void (*fn)(void *user, bool goes_on), void *user);
