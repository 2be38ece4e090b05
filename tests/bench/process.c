#include "process.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "failed");
	exit(1);
}

static size_t read_proc(pid_t pid, const char *file, char *text, size_t cap)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	FILE *f = fopen(path, "r");
	if (!f)
		die(path);
	size_t n = fread(text, 1, cap - 1, f);
	fclose(f);
	text[n] = '\0';
	return n;
}

/* The fields of /proc/PID/stat after the name, which may contain any character. */
static const char *after_name(const char *stat)
{
	const char *end = strrchr(stat, ')');
	if (!end)
		die("/proc/PID/stat");
	return end + 2;
}

double process_cpu(pid_t pid)
{
	char path[64], text[256];
	double ns = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		die(path);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		read_proc(atoi(entry->d_name), "schedstat", text, sizeof text);
		ns += atof(text);
	}
	closedir(dir);
	return ns / 1e9;
}

pid_t process_parent(pid_t pid)
{
	char text[1024];
	int parent;
	read_proc(pid, "stat", text, sizeof text);
	if (sscanf(after_name(text), "%*c %d", &parent) != 1)
		die("/proc/PID/stat");
	return parent;
}

double process_kib(pid_t pid, const char *file, const char *field)
{
	char text[4096];
	read_proc(pid, file, text, sizeof text);
	const char *at = strstr(text, field);
	if (!at)
		die(field);
	return atof(at + strlen(field));
}

double process_memfd_kib(pid_t pid, const char *name)
{
	char path[300], target[256];
	double kib = 0;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		die(path);
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (strstr(target, name) && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			kib = (double)st.st_blocks / 2;
	}
	closedir(dir);
	return kib;
}

pid_t process_fork(void)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

void process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

pid_t process_on_pty(const char *program, int *ret_master)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	fflush(NULL);
	pid_t pid = forkpty(ret_master, NULL, NULL, &size);
	if (pid < 0)
		die("forkpty");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	return pid;
}

void process_expect(int master, const char *text)
{
	char got[65536];
	size_t have = 0, length = strlen(text);
	struct pollfd p = {.fd = master, .events = POLLIN};
	errno = 0;
	while (poll(&p, 1, 5000) > 0) {
		ssize_t n = read(master, got + have, sizeof got - 1 - have);
		if (n <= 0)
			break;
		have += (size_t)n;
		got[have] = '\0';
		if (strstr(got, text))
			return;
		/* The text may have begun at the end of the earlier output. */
		size_t keep = have < length ? have : length;
		memmove(got, got + have - keep, keep);
		have = keep;
	}
	die(text);
}
