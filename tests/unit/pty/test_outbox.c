/* The queue of a non-blocking descriptor: bytes are never lost, duplicated or reordered. */
#include "pty/outbox.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

static void set_up(void)
{
	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	cr_assert_eq(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
}

TestSuite(outbox, .init = set_up, .timeout = 60);

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 7 + (i >> 8));
}

/* Read all available bytes, which must be the pattern from *at on. */
static size_t drain(size_t *at)
{
	unsigned char bytes[1024];
	size_t before = *at;
	for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0; *at += (size_t)n)
		for (ssize_t i = 0; i < n; i++)
			cr_assert_eq(bytes[i], pattern(*at + (size_t)i));
	return *at - before;
}

Test(outbox, everything_is_written_at_once)
{
	struct outbox o = {0};
	cr_expect_eq(outbox_write(&o, ends[1], "hello", 5), 5);
	cr_expect_eq(outbox_queued(&o), 0);
	cr_expect_eq(outbox_write(&o, ends[1], "", 0), 0);
	cr_expect_eq(outbox_flush(&o, ends[1]), 0);
}

Test(outbox, bytes_that_do_not_fit_wait_in_order)
{
	struct outbox o = {0};
	enum { LENGTH = 50000 };
	static unsigned char bytes[LENGTH];
	size_t sent = 0, got = 0;
	for (size_t i = 0; i < LENGTH; i++)
		bytes[i] = pattern(i);
	/* In pieces of many sizes, some while earlier ones wait. */
	for (size_t piece = 1; sent < LENGTH; piece = piece * 3 % 4999 + 1) {
		piece = piece < LENGTH - sent ? piece : LENGTH - sent;
		bool waits = outbox_queued(&o) > 0;
		ssize_t n = outbox_write(&o, ends[1], bytes + sent, piece);
		cr_assert(n >= 0 && (!waits || n == 0), "new bytes would overtake queued ones");
		cr_assert_eq(outbox_put(&o, bytes + sent + n, piece - (size_t)n), 0);
		sent += piece;
		if (sent % 3 == 0)
			drain(&got);
		cr_assert_geq(outbox_flush(&o, ends[1]), 0);
	}
	while (outbox_queued(&o) > 0 || got < LENGTH) {
		cr_assert_gt(drain(&got), 0);
		cr_assert_geq(outbox_flush(&o, ends[1]), 0);
	}
	cr_expect_eq(got, LENGTH);
	cr_expect_null(o.bytes, "an empty queue uses no memory");
}

Test(outbox, closed_reader_is_an_error)
{
	struct outbox o = {0};
	close(ends[0]);
	cr_expect_eq(outbox_write(&o, ends[1], "hello", 5), -EPIPE);
	cr_assert_eq(outbox_put(&o, "hello", 5), 0);
	cr_expect_eq(outbox_flush(&o, ends[1]), -EPIPE);
	cr_expect_eq(outbox_queued(&o), 5, "the caller decides what to do with them");
	outbox_drop(&o);
	cr_expect_eq(outbox_queued(&o), 0);
}

Test(outbox, full_pipe_keeps_the_rest_queued)
{
	struct outbox o = {0};
	static const char bytes[4097];
	cr_expect_eq(outbox_write(&o, ends[1], bytes, sizeof bytes), 4096);
	cr_assert_eq(outbox_put(&o, "x", 1), 0);
	cr_expect_eq(outbox_write(&o, ends[1], "y", 1), 0);
	cr_expect_eq(outbox_flush(&o, ends[1]), 0, "the pipe is full");
	cr_expect_eq(outbox_queued(&o), 1);
	outbox_drop(&o);
}
