/*
 * Free descriptors are counted by allocating and closing them, which takes a few microseconds. Counting the open ones
 * gets slower with their number and does not cover the limit of the whole system.
 */
#include "shell/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Warn when this many starts are left before the reserve; twice as many end the warning. */
#define NEAR_STARTS 4u
#define PROBE_MAX (DESCRIPTORS_RESERVE + 2 * NEAR_STARTS * DESCRIPTORS_START)

unsigned descriptors_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > UINT_MAX)
		return UINT_MAX;
	return (unsigned)limit.rlim_cur;
}

unsigned descriptors_open(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");
	if (!dir)
		return 0;
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count > 0 ? count - 1 : 0; /* without the descriptor of dir itself */
}

int descriptor_path(int fd, char ret_path[PATH_MAX])
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, ret_path, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret_path[n] = '\0';
	return 0;
}

static unsigned reserve(void)
{
	unsigned share = descriptors_limit() / 8;
	return share < DESCRIPTORS_RESERVE ? share : DESCRIPTORS_RESERVE;
}

/* Whether count descriptors can be opened: 0 or a negative errno. */
static int probe(int fd, unsigned count)
{
	int fds[PROBE_MAX], rc = 0;
	unsigned n = 0;
	while (rc == 0 && n < count && n < PROBE_MAX) {
		fds[n] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (fds[n] < 0)
			rc = -errno;
		else
			n++;
	}
	while (n > 0)
		close(fds[--n]);
	return rc;
}

int descriptors_check(int fd)
{
	return probe(fd, reserve() + DESCRIPTORS_START);
}

bool descriptors_should_warn(int fd, bool *near)
{
	unsigned starts = *near ? 2 * NEAR_STARTS : NEAR_STARTS;
	int rc = probe(fd, reserve() + starts * DESCRIPTORS_START);
	bool before = *near;
	*near = rc == -EMFILE || rc == -ENFILE;
	return *near && !before;
}
