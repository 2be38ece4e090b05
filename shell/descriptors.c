/*
 * Whether there is room is found by taking it and giving it back, which costs a few microseconds: counting what is open
 * costs more the more there is, and says nothing of the system's own limit.
 */
#include "shell/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* So many starts before the reserve it is near; twice as many, and it has gone back. */
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
	return count > 0 ? count - 1 : 0; /* but for the one that has counted */
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

/* Whether so many can be opened: 0 or a negative errno. */
static int probe(int fd, unsigned count)
{
	int taken[PROBE_MAX], rc = 0;
	unsigned n = 0;
	while (rc == 0 && n < count && n < PROBE_MAX) {
		taken[n] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (taken[n] < 0)
			rc = -errno;
		else
			n++;
	}
	while (n > 0)
		close(taken[--n]);
	return rc;
}

int descriptors_check(int fd)
{
	return probe(fd, reserve() + DESCRIPTORS_START);
}

bool descriptors_are_news(int fd, bool *near)
{
	unsigned starts = *near ? 2 * NEAR_STARTS : NEAR_STARTS;
	int rc = probe(fd, reserve() + starts * DESCRIPTORS_START);
	bool before = *near;
	*near = rc == -EMFILE || rc == -ENFILE;
	return *near && !before;
}
