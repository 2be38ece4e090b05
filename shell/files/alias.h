/* /workspace, which clients of the Sandbox container expect, as an alias for a directory. */
#pragma once

#include <stddef.h>

/* The name in the root directory. */
#define ALIAS_NAME "workspace"
/* The absolute path: "/" and ALIAS_NAME. */
#define ALIAS_PATH "/workspace"

/*
 * Rewrite an absolute path that names ALIAS_PATH or something below it: that prefix becomes target. Other paths
 * are copied. target: absolute; NULL: no alias. ".." is resolved in the text only where it enters or leaves
 * ALIAS_PATH. Pure. Returns 0, or -ENAMETOOLONG if the result does not fit.
 */
int alias_resolve(const char *target, const char *path, char *ret_path, size_t size);
