/* Orphans go to the next subreaper above them, so nobody gets out from below one: only upwards, towards it. */
#include "pty/parentage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_MAX \
	65536u /* no tree is so deep: somebody goes in circles because numbers change hands */

pid_t parentage_parent(pid_t pid)
{
	char path[32], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The command's name may contain anything, so look for the last parenthesis: ") S PPID". */
	const char *end = strrchr(text, ')');
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : -1;
}

bool parentage_is_below(pid_t pid, pid_t ancestor)
{
	pid_t at = pid;
	for (unsigned steps = 0; steps < STEPS_MAX; steps++) {
		if (at == ancestor)
			return true;
		pid_t parent = parentage_parent(at);
		if (parent < 0 && at == pid)
			return true;
		/* One in between has ended: whoever it has left has another parent now. */
		at = parent < 0 ? pid : parent;
		if (at == 0)
			return false;
	}
	return true;
}
