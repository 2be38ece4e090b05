/* Reads by /proc/self/fd, since fgetxattr(2) does not accept O_PATH descriptors. */
#include "shell/files/attributes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#define ACCESS_ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

static bool is_copied(const char *name)
{
	return strncmp(name, "user.", strlen("user.")) == 0 || strcmp(name, ACCESS_ACL) == 0 ||
		strcmp(name, DEFAULT_ACL) == 0;
}

/* Whether an error means that the attribute, or support for attributes, is missing. */
static bool is_absent(int error)
{
	return error == ENODATA || error == ENOTSUP;
}

static int copy_one(const char *from, int to_fd, const char *name, char *value)
{
	ssize_t n = getxattr(from, name, value, ATTRIBUTES_MAX);
	if (n < 0)
		return is_absent(errno) ? 0 : -errno;
	return fsetxattr(to_fd, name, value, (size_t)n, 0) < 0 && errno != ENOTSUP ? -errno : 0;
}

/* Remove an ACL that the file inherited from its directory. */
static int remove_acl(int to_fd, const char *name)
{
	return fremovexattr(to_fd, name) < 0 && !is_absent(errno) ? -errno : 0;
}

/* Copies as many as possible. Where copying an ACL fails, the inherited one is removed anyway. */
static int copy_all(const char *from, int to_fd, char *names, char *value)
{
	ssize_t length = listxattr(from, names, ATTRIBUTES_MAX);
	bool has_access = false, has_default = false;
	int rc = length < 0 && !is_absent(errno) ? -errno : 0;
	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1) {
		const char *name = names + at;
		int error = is_copied(name) ? copy_one(from, to_fd, name, value) : 0;
		has_access |= error == 0 && strcmp(name, ACCESS_ACL) == 0;
		has_default |= error == 0 && strcmp(name, DEFAULT_ACL) == 0;
		rc = rc == 0 ? error : rc;
	}
	int removed[] = {has_access ? 0 : remove_acl(to_fd, ACCESS_ACL),
		has_default ? 0 : remove_acl(to_fd, DEFAULT_ACL)};
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
