/* Where ringside-server is, from where ringside is. Pure. */
#pragma once

#include <limits.h>

/* As meson has them: relative to the prefix, or absolute where they are not below it. */
struct program_dirs {
	const char *bindir, *libexecdir;
};

/*
 * Where the server is if the program, whose own path is exe, has been installed: in ringside/ of the other directory, found from
 * exe, so that a tree may be moved, or be below a DESTDIR. Returns 0, -ENOENT when exe is not in a directory that is
 * called as bindir, as in a build tree, or -ENAMETOOLONG.
 */
int server_place_installed(
	const char *exe, const struct program_dirs *dirs, char ret_path[PATH_MAX]);

/* Where it is if it stands beside exe, as in a build tree. Returns 0 or -ENAMETOOLONG. */
int server_place_beside(const char *exe, char ret_path[PATH_MAX]);
