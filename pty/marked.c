/* Nothing is kept between two looks. A process that ends meanwhile is left out; one that may not be read has no mark. */
#include "pty/marked.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define VALUE_MAX 128

/* Read the beginning of a file. Returns bytes, NUL-terminated, or -1. */
static ssize_t read_start(int dir_fd, const char *name, char *text, size_t size)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, size - 1);
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

/* Group and session. Returns false when it is gone or has ended. */
static bool read_stat(int proc, const char *pid, struct marked_process *k)
{
	char name[64], text[512], *at;
	snprintf(name, sizeof name, "%.32s/stat", pid);
	if (read_start(proc, name, text, sizeof text) < 0)
		return false;
	/* The name of the program, in parentheses, may have anything in it. */
	const char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return false;
	/* ") S PPID PGRP SESSION", see proc(5) */
	char state = end[2];
	strtol(end + 3, &at, 10);
	k->pid = (pid_t)strtol(pid, NULL, 10);
	k->group = (pid_t)strtol(at, &at, 10);
	k->session = (pid_t)strtol(at, &at, 10);
	return state != 'Z' && state != 'X';
}

static void read_mark(int proc, const char *pid, const char *variable, char value[VALUE_MAX])
{
	char name[64], *entry = NULL;
	size_t size = 0, length = strlen(variable);
	snprintf(name, sizeof name, "%.32s/environ", pid);
	int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	value[0] = '\0';
	while (f && !value[0] && getdelim(&entry, &size, '\0', f) > 0)
		if (strncmp(entry, variable, length) == 0)
			snprintf(value, VALUE_MAX, "%s", entry + length);
	free(entry);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
}

int marked_each(
	const char *variable, void (*visit)(void *user, const struct marked_process *k), void *user)
{
	char mark[VALUE_MAX];
	DIR *d = opendir("/proc");
	if (!d)
		return -errno;
	for (struct dirent *e; (e = readdir(d));) {
		struct marked_process k = {.mark = mark};
		if (!isdigit((unsigned char)e->d_name[0]) || !read_stat(dirfd(d), e->d_name, &k))
			continue;
		read_mark(dirfd(d), e->d_name, variable, mark);
		visit(user, &k);
	}
	closedir(d);
	return 0;
}

/* Whether it is as it was seen. */
static bool is_still(const char *variable, const struct marked_process *k)
{
	struct marked_process now = {0};
	char mark[VALUE_MAX], name[16];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return false;
	snprintf(name, sizeof name, "%d", (int)k->pid);
	bool same = read_stat(proc, name, &now) && now.session == k->session;
	if (same)
		read_mark(proc, name, variable, mark);
	close(proc);
	return same && strcmp(mark, k->mark) == 0;
}

bool marked_signal(const char *variable, const struct marked_process *k, int signo)
{
	int fd = pidfd_open(k->pid, 0);
	if (fd < 0)
		return false;
	/* The descriptor came first: it is of who is looked at now, or of nobody. */
	bool sent = is_still(variable, k) && pidfd_send_signal(fd, signo, NULL, 0) == 0;
	close(fd);
	return sent;
}
