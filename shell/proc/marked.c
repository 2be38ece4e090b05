/* A pidfd is had first: the process that is looked at afterwards is the one that is killed, or has ended. */
#include "shell/proc/marked.h"

#include "pty/proc/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define ENVIRON_MAX ((size_t)256 << 10) /* bytes that are looked at */

struct search {
	const char *mark;
	char *text; /* ENVIRON_MAX bytes */
	size_t count;
};

/* Returns bytes, 0 where it cannot be read. */
static size_t read_environ(pid_t pid, char *text)
{
	size_t length = 0;
	int dir_fd = proc_open(pid);
	int fd = dir_fd < 0 ? -1 : openat(dir_fd, "environ", O_RDONLY | O_CLOEXEC);
	for (ssize_t n = 1; fd >= 0 && n > 0 && length<ENVIRON_MAX; length += n> 0 ? (size_t)n : 0)
		n = read(fd, text + length, ENVIRON_MAX - length);
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return length;
}

static bool has_mark(const struct search *s, size_t length)
{
	size_t size = strlen(s->mark) + 1; /* with its NUL */
	const char *end = s->text + length, *nul;
	for (const char *at = s->text; at < end; at = nul + 1) {
		nul = memchr(at, '\0', (size_t)(end - at));
		if (!nul)
			return false;
		if ((size_t)(nul + 1 - at) == size && memcmp(at, s->mark, size) == 0)
			return true;
	}
	return false;
}

static bool visit(void *user, pid_t pid)
{
	struct search *s = user;
	int pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		return true;
	if (has_mark(s, read_environ(pid, s->text)) &&
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0)
		s->count++;
	close(pidfd);
	return true;
}

size_t marked_kill(const char *mark)
{
	struct search s = {.mark = mark, .text = malloc(ENVIRON_MAX)};
	if (s.text)
		(void)proc_each(visit, &s);
	free(s.text);
	return s.count;
}
