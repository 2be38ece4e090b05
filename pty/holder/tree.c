/*
 * Ending a session's processes. The holder is their subreaper: whoever loses its parent becomes our
 * child. So it is enough to signal our children, again and again until none is left; however deep
 * the tree, its orphans come to us. Children are found in /proc, read with plain system calls.
 */
#include "pty/holder/holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As getdents64(2) lays it out. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* The parent of a process, or -1. See proc(5), /proc/PID/stat. */
static pid_t parent_of(int proc_fd, const char *name)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "%.32s/stat", name);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* The command's name may contain anything, so look for the last parenthesis: ") S PPID". */
	const char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return -1;
	return (pid_t)strtol(end + 4, NULL, 10);
}

int tree_signal(int signo)
{
	_Alignas(struct entry) char buffer[8192];
	pid_t self = getpid();
	int count = 0;
	long n;
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return 0;
	while ((n = syscall(SYS_getdents64, proc_fd, buffer, sizeof buffer)) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(const void *)(buffer + at);
			at += e->length;
			if (e->name[0] < '1' || e->name[0] > '9' ||
				parent_of(proc_fd, e->name) != self)
				continue;
			/* Nobody else reaps our children, so the number cannot have changed hands. */
			kill((pid_t)strtol(e->name, NULL, 10), signo);
			count++;
		}
	}
	close(proc_fd);
	return count;
}
