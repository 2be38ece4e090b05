/* By /proc/self/fd, since fgetxattr(2) takes no descriptor of O_PATH. */
#include "shell/files/attributes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#define ACCESS_LIST "system.posix_acl_access"
#define DEFAULT_LIST "system.posix_acl_default"

static bool is_copied(const char *name)
{
	return strncmp(name, "user.", strlen("user.")) == 0 || strcmp(name, ACCESS_LIST) == 0 ||
		strcmp(name, DEFAULT_LIST) == 0;
}

/* Whether there is no such attribute, or there are none at all. */
static bool is_none(int error)
{
	return error == ENODATA || error == ENOTSUP;
}

static int copy_one(const char *from, int to_fd, const char *name, char *value)
{
	ssize_t n = getxattr(from, name, value, ATTRIBUTES_MAX);
	if (n < 0)
		return is_none(errno) ? 0 : -errno;
	return fsetxattr(to_fd, name, value, (size_t)n, 0) < 0 && errno != ENOTSUP ? -errno : 0;
}

/* A list that it has got from its directory. */
static int remove_list(int to_fd, const char *name)
{
	return fremovexattr(to_fd, name) < 0 && !is_none(errno) ? -errno : 0;
}

/* All that can be; one that cannot leaves it without a list rather than with that of its directory. */
static int copy_all(const char *from, int to_fd, char *names, char *value)
{
	ssize_t length = listxattr(from, names, ATTRIBUTES_MAX);
	bool access = false, others = false;
	int rc = length < 0 && !is_none(errno) ? -errno : 0;
	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1) {
		const char *name = names + at;
		int error = is_copied(name) ? copy_one(from, to_fd, name, value) : 0;
		access |= error == 0 && strcmp(name, ACCESS_LIST) == 0;
		others |= error == 0 && strcmp(name, DEFAULT_LIST) == 0;
		rc = rc == 0 ? error : rc;
	}
	int removed[] = {access ? 0 : remove_list(to_fd, ACCESS_LIST),
		others ? 0 : remove_list(to_fd, DEFAULT_LIST)};
	return rc < 0 ? rc : removed[0] < 0 ? removed[0] : removed[1];
}

int attributes_copy(int from_fd, int to_fd)
{
	char from[32];
	char *memory = malloc(2 * (size_t)ATTRIBUTES_MAX);
	if (!memory)
		return -ENOMEM;
	snprintf(from, sizeof from, "/proc/self/fd/%d", from_fd);
	int rc = copy_all(from, to_fd, memory, memory + ATTRIBUTES_MAX);
	free(memory);
	return rc;
}
