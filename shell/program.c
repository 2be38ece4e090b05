#include "shell/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool program_find(const char *directories, const char *name, char ret_path[PATH_MAX])
{
	const char *at = directories;
	while (at && *at) {
		size_t length = strcspn(at, ":");
		int n = snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)length, at, name);
		if (n < PATH_MAX && ret_path[0] == '/' && access(ret_path, X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}
