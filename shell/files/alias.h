/*
 * A name in the root that stands for a directory: what clients of the Sandbox container call /workspace is a directory of ours,
 * on a machine that has none of that name.
 */
#pragma once

#include <stddef.h>

#define ALIAS_NAME "workspace"
#define ALIAS_PATH "/workspace" /* "/" and ALIAS_NAME */

/*
 * Where an absolute path leads: to what it names, or, where its text names ALIAS_PATH or what is below that, to the same in
 * target, which is absolute; NULL: the name stands for nothing, and each path is itself. ".." is followed by the text alone as far as
 * it leads into ALIAS_PATH or out of it; the rest stays as it is. Returns 0, or -ENAMETOOLONG when it does not fit. Pure.
 */
int alias_resolve(const char *target, const char *path, char *ret_path, size_t size);
