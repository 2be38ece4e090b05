/* Programs, as a shell would find them. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/*
 * Find a program in a list of directories as $PATH has it; NULL: there are none. Only absolute ones count. Returns whether
 * it is there and may be executed, then with its path.
 */
bool program_find(const char *directories, const char *name, char ret_path[PATH_MAX]);
