/*
 * The pidfd is opened before the environment is read, so the signal goes to the process that was
 * examined. Reading is an attempt (attempt.h) because it may hang.
 */
#include "shell/proc/marked.h"

#include "pty/proc/proc.h"
#include "shell/clock.h"
#include "shell/proc/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define PAUSE_US 10000u                     /* for killed processes to exit */
#define ENVIRON_MAX ((size_t)256 << 10)     /* bytes of an environment that are read */
#define ATTEMPTS_MAX (ATTEMPT_KEYS_MAX / 2) /* keys before the attempts are replaced */

struct look {
	pid_t pid;
	bool marked;
	char mark[MARKED_MAX + 1];
};

struct search {
	struct attempts attempts;
	unsigned made;
	size_t count;
	struct look look;
};

/* Returns the number of bytes, 0 if it cannot be read. */
static size_t read_environ(pid_t pid, char *text)
{
	size_t length = 0;
	ssize_t n;
	int dir_fd = proc_open(pid);
	int fd = dir_fd < 0 ? -1 : openat(dir_fd, "environ", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text + length, ENVIRON_MAX - length)) > 0)
		length += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return length;
}

static bool has_mark(const char *text, size_t length, const char *mark)
{
	size_t size = strlen(mark) + 1; /* with its NUL */
	const char *end = text + length, *nul;
	for (const char *at = text; at < end; at = nul + 1) {
		nul = memchr(at, '\0', (size_t)(end - at));
		if (!nul)
			return false;
		if ((size_t)(nul + 1 - at) == size && memcmp(at, mark, size) == 0)
			return true;
	}
	return false;
}

static void on_look(struct attempt *t, void *data)
{
	struct look *look = data;
	char *text = malloc(ENVIRON_MAX);
	(void)t;
	look->marked = text && has_mark(text, read_environ(look->pid, text), look->mark);
	free(text);
}

static bool is_marked(struct search *s, pid_t pid)
{
	const struct attempt_call call = {.key = pid, .work = on_look};
	/* Each process is a key of its own: drop the old ones. */
	if (s->made++ == ATTEMPTS_MAX) {
		attempts_finish(&s->attempts);
		s->attempts = (struct attempts){0};
		s->made = 0;
	}
	s->look.pid = pid;
	s->look.marked = false;
	return attempt_run(&s->attempts, &call, &s->look, sizeof s->look) == 0 && s->look.marked;
}

static bool visit(void *user, pid_t pid)
{
	struct search *s = user;
	struct proc_status status;
	uid_t ours = geteuid();
	if (pid == getpid() || !proc_status(pid, &status) || (ours != 0 && status.owner != ours))
		return true;
	int pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		return true;
	if (is_marked(s, pid) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0)
		s->count++;
	close(pidfd);
	return true;
}

void marked_kill(const char *mark, uint64_t ms)
{
	uint64_t end = clock_monotonic_ms() + ms;
	struct search *s = calloc(1, sizeof *s);
	if (s && strlen(mark) <= MARKED_MAX) {
		memcpy(s->look.mark, mark, strlen(mark) + 1);
		do {
			s->count = 0;
			(void)proc_each(visit, s);
		} while (s->count > 0 && clock_monotonic_ms() < end && usleep(PAUSE_US) == 0);
		attempts_finish(&s->attempts);
	}
	free(s);
}
