/* Reading directories. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <string.h>

/* Open a directory, not a link to one. NULL with errno on failure. */
DIR *dir_open(int dir_fd, const char *name);

/* Whether an entry is the directory itself or its parent. */
static inline bool dir_is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}
