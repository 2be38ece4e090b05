#pragma once

#include <dirent.h>

/* The number of open descriptors of this process. */
static inline unsigned open_fds(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count - 1; /* without that of dir itself */
}
