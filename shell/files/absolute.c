/*
 * Both directories are read from /proc, so no call waits for the shell. HOME is that of the shell's first environment: a later
 * change of the variable is not seen. The shell's memory may be on a disk that does not answer, as any path may be.
 */
#include "shell/files/absolute.h"

#include "pty/proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_MAX ((size_t)256 << 10) /* bytes in which HOME is looked for */

/* Join a directory and a name. name: after the slashes at its beginning. */
static int join(const char *directory, const char *name, char ret_path[PLACE_PATH_MAX])
{
	size_t length = strlen(directory);
	bool slash = length > 0 && directory[length - 1] == '/';
	if (directory[0] != '/')
		return -ENOENT;
	size_t need = (size_t)snprintf(
		ret_path, PLACE_PATH_MAX, "%s%s%s", directory, slash ? "" : "/", name);
	return need < PLACE_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Find HOME in an environment. Returns 0, -ENOENT, or -ENAMETOOLONG. */
static int copy_home(const char *environment, size_t length, char ret_home[PLACE_PATH_MAX])
{
	static const char name[] = "HOME=";
	const char *end = environment + length, *at = environment;
	while (at < end && strncmp(at, name, sizeof name - 1) != 0)
		at += strlen(at) + 1;
	/* What ends at the limit may go on behind it. */
	if (at >= end || (length == ENVIRONMENT_MAX && at + strlen(at) == end))
		return -ENOENT;
	size_t need = (size_t)snprintf(ret_home, PLACE_PATH_MAX, "%s", at + sizeof name - 1);
	return need < PLACE_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* One read of limited size: any program can take the place of the shell, with an environment of any size. */
static int read_home(const struct place *p, char ret_home[PLACE_PATH_MAX])
{
	int process = p->shell > 0 ? proc_open(p->shell) : -ENOENT;
	if (process < 0)
		return process;
	char *environment = malloc(ENVIRONMENT_MAX + 1);
	ssize_t n = environment ? proc_read(process, "environ", environment, ENVIRONMENT_MAX + 1)
				: -ENOMEM;
	int rc = n < 0 ? (int)n : copy_home(environment, (size_t)n, ret_home);
	free(environment);
	close(process);
	/* The pid may have been reused by another process, with another environment. */
	return proc_is_descendant(p->shell, p->holder) ? rc : -ESRCH;
}

/* Join the shell's HOME and a name. */
static int join_home(struct place *p, const char *name, char ret_path[PLACE_PATH_MAX])
{
	if (!p->home_is_read)
		p->home_error = read_home(p, p->home);
	p->home_is_read = true;
	return p->home_error < 0 ? p->home_error : join(p->home, name, ret_path);
}

/* Join the working directory and a name. */
static int join_cwd(const struct place *p, const char *name, char ret_path[PLACE_PATH_MAX])
{
	char link[32], directory[PLACE_PATH_MAX];
	if (p->root_fd >= 0)
		return join(p->inside, name, ret_path);
	if (p->cwd_fd < 0)
		return -ENOENT;
	snprintf(link, sizeof link, "/proc/self/fd/%d", p->cwd_fd);
	ssize_t n = readlink(link, directory, sizeof directory - 1);
	if (n < 0)
		return -errno;
	directory[n] = '\0';
	return join(directory, name, ret_path);
}

int absolute_path(struct place *p, const char *name, char ret_path[PLACE_PATH_MAX])
{
	if (name[0] == '/')
		return join("/", name + 1, ret_path);
	if (name[0] == '~' && name[1] == '/')
		return join_home(p, name + 2, ret_path);
	return join_cwd(p, name, ret_path);
}
