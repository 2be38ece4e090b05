/*
 * Both directories are read from /proc at each call, so no call waits for the shell. HOME is that of the shell's first
 * environment: a later change of the variable is not seen.
 */
#include "shell/files/absolute.h"

#include "pty/proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Returns NULL, and errno, on failure. */
static FILE *open_environment(pid_t shell)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/environ", (int)shell);
	return fopen(path, "re");
}

/* Join the shell's HOME and a name. */
static int join_home(const struct place *p, const char *name, char ret_path[PLACE_PATH_MAX])
{
	static const char home[] = "HOME=";
	char *variable = NULL;
	size_t capacity = 0;
	int rc = -ENOENT;
	if (p->shell <= 0)
		return rc;
	FILE *file = open_environment(p->shell);
	if (!file)
		return -errno;
	while (rc == -ENOENT && getdelim(&variable, &capacity, '\0', file) > 0)
		if (strncmp(variable, home, sizeof home - 1) == 0)
			rc = join(variable + sizeof home - 1, name, ret_path);
	if (rc == -ENOENT && !feof(file))
		rc = -errno;
	free(variable);
	fclose(file);
	/* The pid may have been reused by another process, with another environment. */
	return proc_is_descendant(p->shell, p->holder) ? rc : -ESRCH;
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

int absolute_path(const struct place *p, const char *name, char ret_path[PLACE_PATH_MAX])
{
	if (name[0] == '/')
		return join("/", name + 1, ret_path);
	if (name[0] == '~' && name[1] == '/')
		return join_home(p, name + 2, ret_path);
	return join_cwd(p, name, ret_path);
}
