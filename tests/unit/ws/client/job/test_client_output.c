/* Writes the output of commands to descriptors that other processes have made non-blocking. */
#include "ws/base64.h"
#include "ws/client/job/output.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 20)

/* Wait until the pipe is full, and read it. Exits with 0 if all bytes arrived. */
static void __attribute__((noreturn)) read_late(int fd, int size)
{
	static char piece[4096];
	size_t all = 0;
	ssize_t n;
	int waiting = 0;
	while (waiting < size) {
		poll(NULL, 0, 1);
		ioctl(fd, FIONREAD, &waiting);
	}
	while ((n = read(fd, piece, sizeof piece)) > 0)
		all += (size_t)n;
	_exit(all == BYTES ? 0 : 1);
}

Test(client_output, waits_for_full_nonblocking_pipe, .timeout = 60)
{
	int fds[2], status;
	static const char bytes[BYTES];
	struct output output = {.plain = false};
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		close(fds[1]);
		read_late(fds[0], fcntl(fds[0], F_GETPIPE_SZ));
	}
	close(fds[0]);
	cr_assert_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	int before = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	json_t *text = base64_json(bytes, sizeof bytes);
	output_write(&output, OUTPUT_OUT, text, false);
	dup2(before, STDOUT_FILENO);
	close(before);
	json_decref(text);
	cr_expect_eq(output.error, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}
