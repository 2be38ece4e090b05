/* Calls in a thread that return, hang or are abandoned. */
#include "shell/proc/attempt.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct attempts attempts;
static atomic_bool discarded, refused;
static _Atomic pid_t *child; /* the child of a hanging call, which writes its own pid */

static void set_up(void)
{
	child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(child, MAP_FAILED);
}

TestSuite(attempt, .init = set_up, .timeout = 60);

struct sum {
	int a, b, sum;
	pid_t thread;
};

static void add(struct attempt *t, void *data)
{
	struct sum *s = data;
	if (attempt_lock(t)) {
		s->sum = s->a + s->b;
		attempt_unlock(t);
	}
	s->thread = gettid();
}

/* Hang like a call that waits for a lock in the kernel: a parent in vfork(2) cannot be woken. */
static void hang(struct attempt *t, void *data)
{
	(void)data;
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
		atomic_store(child, (pid_t)syscall(SYS_getpid));
		for (;;)
			pause();
	}
	atomic_store(&refused, !attempt_lock(t));
}

static void discard(void *data)
{
	(void)data;
	atomic_store(&discarded, true);
}

static int make(pid_t key, void (*work)(struct attempt *t, void *data), struct sum *s)
{
	const struct attempt_call call = {key, work, discard};
	return attempt_run(&attempts, &call, s, sizeof *s);
}

static void end_child(void)
{
	pid_t pid = atomic_exchange(child, 0);
	cr_assert_gt(pid, 0);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(attempt, runs_in_one_thread)
{
	struct sum first = {.a = 1, .b = 2}, second = {.a = 3, .b = 4};
	cr_assert_eq(make(7, add, &first), 0);
	cr_assert_eq(make(8, add, &second), 0);
	cr_expect_eq(first.sum, 3);
	cr_expect_eq(second.sum, 7);
	cr_expect_neq(first.thread, gettid());
	cr_expect_eq(first.thread, second.thread);
	cr_expect_not(discarded);
	attempts_finish(&attempts);
}

Test(attempt, hanging_call_is_abandoned_and_its_key_rests)
{
	struct sum s = {.a = 1, .b = 2};
	long long before = until_now_ms();
	cr_assert_eq(make(7, hang, &s), -ETIMEDOUT);
	cr_expect_geq(until_now_ms() - before, (long long)ATTEMPT_STUCK_MS);
	cr_expect_eq(make(7, add, &s), -EBUSY);
	cr_expect_eq(s.sum, 0);
	cr_expect_eq(make(8, add, &s), 0);
	cr_expect_eq(s.sum, 3);
	end_child();
	cr_expect(UNTIL(make(7, add, &s) == 0));
	cr_expect_geq(until_now_ms() - before, (long long)ATTEMPT_REST_MS);
	cr_expect(discarded && refused);
	attempts_finish(&attempts);
}

Test(attempt, hanging_call_may_outlive_the_others)
{
	struct sum s = {0};
	cr_assert_eq(make(7, hang, &s), -ETIMEDOUT);
	attempts_finish(&attempts);
	cr_expect_not(discarded);
	end_child();
	cr_expect(UNTIL(discarded));
}

/* A busy thread is not asleep, so the caller waits for it. */
static void be_busy(struct attempt *t, void *data)
{
	long long until = until_now_ms() + 4 * (long long)ATTEMPT_STUCK_MS;
	while (until_now_ms() < until)
		;
	add(t, data);
}

Test(attempt, time_of_a_key_is_limited)
{
	struct sum s = {0};
	attempts.share_ms = 10 * ATTEMPT_STUCK_MS;
	long long before = until_now_ms();
	int rc;
	while ((rc = make(7, be_busy, &s)) == 0 && until_now_ms() - before < 900)
		;
	cr_expect_eq(rc, -EBUSY);
	cr_expect_eq(make(8, add, &s), 0, "other keys have their own share");
	cr_expect(UNTIL(make(7, add, &s) == 0));
	attempts_finish(&attempts);
}

Test(attempt, slow_call_is_not_abandoned)
{
	struct sum s = {.a = 1, .b = 2};
	cr_expect_eq(make(7, be_busy, &s), 0);
	cr_expect_eq(s.sum, 3);
	attempts_finish(&attempts);
}
