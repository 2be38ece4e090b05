#include "ws/client/server_place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of the part before /BINDIR/NAME, or -1 if exe does not end so. */
static long prefix_length(const char *exe, const char *bindir)
{
	const char *slash = strrchr(exe, '/');
	size_t dir = slash ? (size_t)(slash - exe) : 0, bin = strlen(bindir);
	if (bindir[0] == '/')
		return dir == bin && strncmp(exe, bindir, bin) == 0 ? 0 : -1;
	if (bin == 0 || dir <= bin || exe[dir - bin - 1] != '/' ||
		strncmp(exe + dir - bin, bindir, bin) != 0)
		return -1;
	return (long)(dir - bin - 1);
}

int server_place_installed(const char *exe, const struct program_dirs *dirs, char ret_path[PATH_MAX])
{
	bool whole = dirs->libexecdir[0] == '/';
	long prefix = prefix_length(exe, dirs->bindir);
	/* An absolute bindir says nothing about the prefix. */
	if (prefix < 0 || (dirs->bindir[0] == '/' && !whole))
		return -ENOENT;
	int n = snprintf(ret_path, PATH_MAX, "%.*s%s%s/ringside/ringside-server",
		whole ? 0 : (int)prefix, exe, whole ? "" : "/", dirs->libexecdir);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int server_place_beside(const char *exe, char ret_path[PATH_MAX])
{
	return snprintf(ret_path, PATH_MAX, "%s-server", exe) < PATH_MAX ? 0 : -ENAMETOOLONG;
}
