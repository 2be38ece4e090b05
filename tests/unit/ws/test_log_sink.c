#include "ws/log_sink.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct log_sink sink;
static int fds[2];

static void open_pipe(int flags)
{
	cr_assert_eq(pipe2(fds, flags), 0);
	log_sink_open(&sink, fds[1]);
}

/* Write numbered lines; returns how many were accepted. */
static unsigned write_lines(unsigned count)
{
	char line[64];
	unsigned accepted = 0;
	for (unsigned i = 0; i < count; i++) {
		int n = snprintf(line, sizeof line, "line %06u of output without a reader\n", i);
		accepted += log_sink_write(&sink, line, (size_t)n);
	}
	return accepted;
}

/* Read count lines; each must be whole and have the next number. */
static void expect_lines(int fd, unsigned count)
{
	char line[64], want[64];
	FILE *f = fdopen(fd, "r");
	for (unsigned i = 0; i < count; i++) {
		log_sink_flush(&sink);
		snprintf(want, sizeof want, "line %06u of output without a reader\n", i);
		cr_assert_not_null(fgets(line, sizeof line, f));
		cr_assert_str_eq(line, want);
	}
	fclose(f);
}

Test(log_sink, pipe_without_a_reader, .timeout = 10)
{
	open_pipe(0);
	unsigned accepted = write_lines(100000);
	cr_assert_gt(accepted, 2000u, "a pipe's 64 KB, and the buffer");
	cr_assert_eq(sink.dropped, 100000 - accepted);
	cr_assert_eq(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0, "other processes share the pipe");
	expect_lines(fds[0], accepted);
}

Test(log_sink, socket_without_a_reader, .timeout = 10)
{
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	log_sink_open(&sink, fds[1]);
	cr_assert_eq(sink.kind, LOG_SINK_SOCKET);
	unsigned accepted = write_lines(100000);
	cr_assert_lt(accepted, 100000u);
	expect_lines(fds[0], accepted);
}

Test(log_sink, stopped_terminal, .timeout = 10)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	cr_assert_eq(grantpt(master), 0);
	cr_assert_eq(unlockpt(master), 0);
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	cr_assert_geq(slave, 0);
	log_sink_open(&sink, slave);
	unsigned accepted = write_lines(100000);
	cr_assert_lt(accepted, 100000u);
	cr_assert_eq(sink.dropped, 100000 - accepted);
}

Test(log_sink, descriptor_that_cannot_be_reopened_is_polled, .timeout = 10)
{
	open_pipe(0);
	close(sink.fd);
	sink = (struct log_sink){.fd = fds[1], .kind = LOG_SINK_POLLED};
	unsigned accepted = write_lines(100000);
	cr_assert_lt(accepted, 100000u);
	expect_lines(fds[0], accepted);
}

Test(log_sink, lines_are_appended_to_a_file)
{
	char path[] = "/tmp/ringside-log-XXXXXX", text[64] = "";
	int fd = mkstemp(path);
	cr_assert_eq(write(fd, "before\n", 7), 7);
	log_sink_open(&sink, fd);
	cr_assert(log_sink_write(&sink, "line\n", 5));
	cr_assert_eq(write(fd, "after\n", 6), 6);
	cr_assert_eq(pread(fd, text, sizeof text - 1, 0), 18);
	cr_assert_str_eq(text, "before\nline\nafter\n");
	close(fd);
	unlink(path);
}

Test(log_sink, reader_that_has_closed, .timeout = 10)
{
	signal(SIGPIPE, SIG_IGN);
	open_pipe(0);
	write_lines(3000);
	cr_assert_gt(sink.count, 0u);
	close(fds[0]);
	cr_assert_not(log_sink_write(&sink, "line\n", 5));
	cr_assert_eq(sink.count, 0u, "buffered lines are dropped");
}

Test(log_sink, line_larger_than_the_buffer)
{
	static char line[2 * LOG_SINK_KEPT];
	open_pipe(O_NONBLOCK);
	memset(line, 'x', sizeof line);
	write_lines(1800); /* fills the pipe */
	cr_assert_not(log_sink_write(&sink, line, sizeof line));
}
