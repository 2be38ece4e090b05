/* The path of ringside-server, derived from the path of ringside. Pure. */
#pragma once

#include <limits.h>

/* Directories as meson has them: relative to the prefix, or absolute if they are not below it. */
struct program_dirs {
	const char *bindir, *libexecdir;
};

/*
 * The path of the installed server: ringside/ in libexecdir, relative to exe, so that the tree may
 * be moved or be below a DESTDIR. exe: the path of ringside. Returns 0, -ENOENT if exe is not in a
 * directory named bindir, as in a build tree, or -ENAMETOOLONG.
 */
int server_place_installed(
	const char *exe, const struct program_dirs *dirs, char ret_path[PATH_MAX]);

/* The path of the server beside exe, as in a build tree. Returns 0 or -ENAMETOOLONG. */
int server_place_beside(const char *exe, char ret_path[PATH_MAX]);
