/* Finding programs in a $PATH. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/*
 * Find an executable in a list of directories in the format of $PATH (NULL: empty). Relative directories are skipped.
 * Returns whether it was found, with its path.
 */
bool program_find(const char *directories, const char *name, char ret_path[PATH_MAX]);
