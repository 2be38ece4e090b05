/* See pty/peeker.h. */
#include "pty/peeker.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t peek(const struct peeker_request *r, uint8_t *bytes)
{
	static const char *const names[] = {
		[PEEKER_MEMORY] = "mem", [PEEKER_ARGUMENTS] = "cmdline", [PEEKER_ENVIRONMENT] = "environ"};
	char path[48];
	if (r->file >= sizeof names / sizeof *names || r->length > PEEKER_BYTES_MAX ||
		r->offset > INT64_MAX)
		return -EINVAL;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)r->pid, names[r->file]);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = pread(fd, bytes, r->length, (off_t)r->offset);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

void peeker_run(void)
{
	static struct peeker_answer answer;
	struct peeker_request request;
	prctl(PR_SET_NAME, "ringside-peek");
	while (recv(PEEKER_SOCKET, &request, sizeof request, 0) == sizeof request) {
		ssize_t n = peek(&request, answer.bytes);
		answer.serial = request.serial;
		answer.result = (int32_t)n;
		size_t size = offsetof(struct peeker_answer, bytes) + (n > 0 ? (size_t)n : 0);
		if (send(PEEKER_SOCKET, &answer, size, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}
