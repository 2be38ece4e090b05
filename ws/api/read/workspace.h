/* Paths in requests. */
#pragma once

#include "shell/files/alias.h"
#include "shell/session/sessions.h"
#include "ws/api/read/body.h"

#include <stdbool.h>

/*
 * The container's files are in /workspace, which its clients write into paths. Where the machine has no such directory when the
 * server starts, the workspace stands for it, and for what is below it, as long as that server runs.
 */
#define WORKSPACE_ALIAS ALIAS_PATH

/* What WORKSPACE_ALIAS stands for, where the workspace is root: that, or NULL where the machine has the name. To be asked once. */
const char *workspace_alias(const char *root);

/* Whether it is a directory of this machine that can be entered. Likewise. */
bool workspace_is_there(void);

/*
 * Have the field `cwd` of a body say where that is on this machine: WORKSPACE_ALIAS, and what is below it, are in what it stands for
 * (NULL: nothing). In rooms (--isolate), which need not have that, the name alone is where sessions begin. What is no path stays as
 * it is.
 */
void workspace_take_cwd(const char *alias, const struct sessions *all, json_t *body);

/*
 * Make a path absolute, and without ".", ".." and doubled slashes, by its text alone: a relative one begins at base, which is absolute.
 * Returns false when it does not fit. Pure.
 */
bool workspace_join(const char *base, const char *path, char ret_path[BODY_PATH_MAX]);

/* Whether path is root, or below it; both absolute and joined. Pure. */
bool workspace_has(const char *root, const char *path);

/*
 * Where a joined path is on this machine: itself, or in what WORKSPACE_ALIAS stands for (alias; NULL: nothing). Returns false when it
 * does not fit. Pure.
 */
bool workspace_place(const char *alias, const char *path, char ret_place[BODY_PATH_MAX]);

/* The same of a path as it was given, which has to be absolute, without ".." and control characters. */
bool workspace_place_strict(const char *alias, const char *path, char ret_place[BODY_PATH_MAX]);
