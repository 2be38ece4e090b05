/*
 * Non-blocking output of log lines. If the reader is slow, lines wait and then are dropped. If it is gone, they are dropped
 * at once. Neither is an error; dropped lines are counted.
 */
#include "ws/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_again(int fd)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void log_sink_open(struct log_sink *s, int fd)
{
	struct stat st;
	*s = (struct log_sink){.fd = fd, .kind = LOG_SINK_PLAIN};
	/* A reopened file would have an offset of its own. Regular files do not block anyway. */
	if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
		return;
	if (S_ISSOCK(st.st_mode)) {
		s->kind = LOG_SINK_SOCKET;
		return;
	}
	int own = open_again(fd);
	s->kind = own >= 0 ? LOG_SINK_OWN : LOG_SINK_POLLED;
	s->fd = own >= 0 ? own : fd;
}

/* Returns bytes written, 0 if the descriptor accepts none now, or a negative errno. */
static ssize_t write_some(const struct log_sink *s, const char *bytes, size_t length)
{
	struct pollfd poll_fd = {.fd = s->fd, .events = POLLOUT};
	ssize_t n;
	if (s->kind == LOG_SINK_POLLED) {
		/* A writable pipe accepts PIPE_BUF bytes without blocking. */
		if (poll(&poll_fd, 1, 0) <= 0 || !(poll_fd.revents & (POLLOUT | POLLERR)))
			return 0;
		length = length < 4096 ? length : 4096;
	}
	do {
		n = s->kind == LOG_SINK_SOCKET
			? send(s->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
			: write(s->fd, bytes, length);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

void log_sink_flush(struct log_sink *s)
{
	while (s->count > 0) {
		size_t whole = LOG_SINK_KEPT - s->start;
		ssize_t n = write_some(s, s->kept + s->start, s->count < whole ? s->count : whole);
		if (n < 0)
			s->count = 0; /* the reader is gone */
		if (n <= 0)
			return;
		s->start = (s->start + (size_t)n) % LOG_SINK_KEPT;
		s->count -= (size_t)n;
	}
}

/* Returns false if there is not enough space for all of it. */
static bool keep(struct log_sink *s, const char *bytes, size_t length)
{
	if (!s->kept)
		s->kept = malloc(LOG_SINK_KEPT);
	if (!s->kept || length > LOG_SINK_KEPT - s->count)
		return false;
	for (size_t i = 0; i < length; i++)
		s->kept[(s->start + s->count++) % LOG_SINK_KEPT] = bytes[i];
	return true;
}

bool log_sink_write(struct log_sink *s, const char *line, size_t length)
{
	ssize_t n = 0;
	log_sink_flush(s);
	if (s->count == 0)
		n = write_some(s, line, length);
	bool good = n >= 0 && ((size_t)n == length || keep(s, line + n, length - (size_t)n));
	if (!good)
		s->dropped++;
	return good;
}
