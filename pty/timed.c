/*
 * The timer is armed around each call and goes on ticking until it is disarmed, for the first tick may come before the
 * call has begun to wait. Who blocks is found out by what is missing afterwards: O_NONBLOCK.
 */
#include "pty/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TIMED_SIGNAL (SIGRTMAX - 1)
#define TICK_NS (TIMED_MS * 1000000L)

/* Signals and timers are the process's and the thread's, whoever asks for them. */
static _Thread_local struct {
	timer_t timer;
	bool made;
	volatile sig_atomic_t fired;
} clock_of_thread;

static void on_signal(int signo)
{
	(void)signo;
	clock_of_thread.fired = 1;
}

/* Without SA_RESTART: what waits is to end. Returns 0 or a negative errno. */
static int make_timer(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMED_SIGNAL};
	sigset_t mine;
	if (clock_of_thread.made)
		return 0;
	event._sigev_un._tid = gettid();
	sigemptyset(&mine);
	sigaddset(&mine, TIMED_SIGNAL);
	if (sigaction(TIMED_SIGNAL, &action, NULL) < 0)
		return -errno;
	int rc = pthread_sigmask(SIG_UNBLOCK, &mine, NULL);
	if (rc == 0 && timer_create(CLOCK_MONOTONIC, &event, &clock_of_thread.timer) < 0)
		rc = errno;
	clock_of_thread.made = rc == 0;
	return -rc;
}

static void set_timer(long ns)
{
	const struct itimerspec time = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};
	timer_settime(clock_of_thread.timer, 0, &time, NULL); /* cannot fail */
}

static int begin(const struct timed *g)
{
	if (g->distrusted)
		return -EDEADLK;
	int rc = make_timer();
	if (rc < 0)
		return rc;
	clock_of_thread.fired = 0;
	set_timer(TICK_NS);
	return 0;
}

static uint64_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
	return (uint64_t)now.tv_sec;
}

/* done: bytes, or a negative errno. */
static ssize_t end(struct timed *g, int fd, ssize_t done)
{
	set_timer(0);
	if (clock_of_thread.fired) {
		int flags = fcntl(fd, F_GETFL);
		uint64_t now = now_s();
		g->stalls = now < g->stalled_s + TIMED_FORGET_S ? g->stalls + 1 : 1;
		g->stalled_s = now;
		g->distrusted = flags < 0 || !(flags & O_NONBLOCK) || g->stalls > TIMED_STALLS_MAX;
	}
	if (g->distrusted)
		return -EDEADLK;
	return done == -EINTR ? -EAGAIN : done;
}

ssize_t timed_write(struct timed *g, int fd, const void *bytes, size_t length)
{
	int rc = begin(g);
	if (rc < 0)
		return rc;
	ssize_t n = write(fd, bytes, length);
	return end(g, fd, n < 0 ? -errno : n);
}

ssize_t timed_read(struct timed *g, int fd, void *bytes, size_t size)
{
	struct iovec to = {.iov_base = bytes, .iov_len = size};
	/* An eventfd has taken it since Linux 5.8. */
	ssize_t n = g->distrusted ? -1 : preadv2(fd, &to, 1, -1, RWF_NOWAIT);
	if (n >= 0)
		return n;
	if (!g->distrusted && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
		return errno == EINTR ? -EAGAIN : -errno;
	int rc = begin(g);
	if (rc < 0)
		return rc;
	n = read(fd, bytes, size);
	return end(g, fd, n < 0 ? -errno : n);
}
