/* Paths in requests. */
#pragma once

#include "shell/files/alias.h"
#include "shell/session/sessions.h"
#include "ws/api/read/body.h"

#include <stdbool.h>

/*
 * The directory of the Sandbox container's files, which its clients use in paths. If the machine has no /workspace when
 * the server starts, it is an alias for the workspace as long as that server runs.
 */
#define WORKSPACE_ALIAS ALIAS_PATH

/* What WORKSPACE_ALIAS stands for: root, or NULL if the machine has that path. Call once, at the start. */
const char *workspace_alias(const char *root);

/* Whether WORKSPACE_ALIAS is a directory of this machine that can be entered. Call once, at the start. */
bool workspace_alias_exists(void);

/*
 * Replace WORKSPACE_ALIAS in the field `cwd` of a body by what it stands for (alias; NULL: nothing). With --isolate,
 * sandboxes need not contain that: then only `cwd` equal to WORKSPACE_ALIAS is replaced, by the directory in which
 * sessions start. A `cwd` that is not an absolute path stays.
 */
void workspace_translate_cwd(const char *alias, const struct sessions *all, json_t *body);

/*
 * Make a path absolute and remove ".", ".." and repeated slashes, without looking at the disk. base is absolute.
 * Returns false when the result does not fit. Pure.
 */
bool workspace_join(const char *base, const char *path, char ret_path[BODY_PATH_MAX]);

/* Whether path is root or below it. Both come from workspace_join(). Pure. */
bool workspace_contains(const char *root, const char *path);

/*
 * Replace WORKSPACE_ALIAS in a path of workspace_join() by what it stands for (alias; NULL: nothing). Returns false
 * when the result does not fit. Pure.
 */
bool workspace_resolve(const char *alias, const char *path, char ret_place[BODY_PATH_MAX]);

/* workspace_resolve() for a raw path. Returns false also if it is relative or has ".." or control characters. */
bool workspace_resolve_strict(const char *alias, const char *path, char ret_place[BODY_PATH_MAX]);
