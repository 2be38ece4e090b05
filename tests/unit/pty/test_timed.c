/* Descriptors that somebody else has made block: we do not. */
#include "pty/timed.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

TestSuite(timed, .timeout = 20);

static void set_blocking(int fd, bool blocks)
{
	int flags = fcntl(fd, F_GETFL);
	cr_assert_eq(fcntl(fd, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK), 0);
}

static const uint64_t one = 1, full = UINT64_MAX - 1;

/* An eventfd that takes nothing more. */
static int full_eventfd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_eq(write(fd, &full, sizeof full), 8);
	return fd;
}

Test(timed, eventfd_that_is_full)
{
	struct timed g = {0};
	int fd = full_eventfd();
	cr_expect_eq(timed_write(&g, fd, &one, sizeof one), -EAGAIN);
	cr_expect_not(g.distrusted);
	set_blocking(fd, true);
	cr_expect_eq(timed_write(&g, fd, &one, sizeof one), -EDEADLK);
	cr_expect(g.distrusted);
	set_blocking(fd, false);
	cr_expect_eq(timed_write(&g, fd, &one, sizeof one), -EDEADLK, "it stays so");
	close(fd);
	ASSERT_NO_LEAKS();
}

Test(timed, eventfd_that_somebody_else_has_read)
{
	struct timed g = {0};
	uint64_t count = 7;
	int fd = eventfd(0, EFD_CLOEXEC);
	cr_expect_eq(timed_read(&g, fd, &count, sizeof count), -EAGAIN);
	cr_expect_eq(write(fd, &one, sizeof one), 8);
	cr_expect_eq(timed_read(&g, fd, &count, sizeof count), 8);
	cr_expect_eq(count, 1);
	cr_expect_not(g.distrusted);
	close(fd);
}

/* Reading what has no RWF_NOWAIT is interrupted as well. */
Test(timed, terminal_that_says_nothing)
{
	struct timed g = {0};
	char byte;
	int master, slave;
	cr_assert_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	cr_expect_eq(timed_read(&g, master, &byte, 1), -EDEADLK);
	close(master);
	close(slave);
}

/* What it took before it began to wait is no reason to try again and again. */
Test(timed, terminal_that_takes_no_more)
{
	static char bytes[1 << 18];
	struct termios raw;
	struct timed g = {0};
	int master, slave;
	cr_assert_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	cr_assert_eq(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(slave, TCSANOW, &raw), 0);
	memset(bytes, 'x', sizeof bytes);
	set_blocking(master, false);
	cr_expect_gt(timed_write(&g, master, bytes, sizeof bytes), 0);
	/* The kernel moves what it has taken further in, and then takes a little more. */
	ssize_t n;
	do
		n = timed_write(&g, master, bytes, sizeof bytes);
	while (n > 0);
	cr_expect_eq(n, -EAGAIN);
	cr_expect_not(g.distrusted);
	set_blocking(master, true);
	cr_expect_eq(timed_write(&g, master, bytes, sizeof bytes), -EDEADLK);
	close(master);
	close(slave);
}

static int blocking;

/* What is written to while this runs is interrupted, and looked at afterwards: however long that takes, it is in this order. */
static void set_again(int signo)
{
	struct timespec tick = {.tv_nsec = TIMED_MS * 1000000L}, left;
	(void)signo;
	set_blocking(blocking, false);
	for (unsigned i = 0; i < 2; i++)
		for (left = tick; nanosleep(&left, &left) < 0;)
			;
}

/* Somebody who makes it block, and sets that right before it is looked at. */
Test(timed, again_and_again)
{
	const struct sigaction action = {.sa_handler = set_again};
	const struct itimerval soon = {.it_value.tv_usec = TIMED_MS * 1000 / 4};
	struct timed g = {0};
	blocking = full_eventfd();
	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	while (!g.distrusted) {
		set_blocking(blocking, true);
		cr_assert_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
		ssize_t n = timed_write(&g, blocking, &one, sizeof one);
		cr_assert_eq(n, g.distrusted ? -EDEADLK : -EAGAIN, "%u: %zd", g.stalls, n);
		cr_assert_eq(g.distrusted, g.stalls > TIMED_STALLS_MAX, "%u", g.stalls);
	}
	close(blocking);
}

static void *write_elsewhere(void *user)
{
	struct timed g = {0};
	*(ssize_t *)user = timed_write(&g, *(int *)user, &one, sizeof one);
	return NULL;
}

Test(timed, every_thread_has_its_own)
{
	union {
		int fd;
		ssize_t n;
	} other = {.fd = full_eventfd()};
	pthread_t thread;
	int fd = other.fd;
	set_blocking(fd, true);
	cr_assert_eq(pthread_create(&thread, NULL, write_elsewhere, &other), 0);
	pthread_join(thread, NULL);
	cr_expect_eq(other.n, -EDEADLK);
	close(fd);
}
