/* Reading other processes, also ones that never respond. */
#include "shell/proc/peek.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct peek p;

static void set_up(void)
{
	p = (struct peek){.holder = getenv("RINGSIDE_HOLDER")};
	cr_assert_not_null(p.holder, "RINGSIDE_HOLDER must be the path of the holder");
}

static void tear_down(void)
{
	peek_finish(&p);
}

TestSuite(peek, .init = set_up, .fini = tear_down, .timeout = 60);

static struct peek_target ourselves(void)
{
	return (struct peek_target){.pid = getpid(), .owner = geteuid(), .session = getpid()};
}

static char text[] = "something in our memory";

static bool reads(const char *address)
{
	char got[sizeof text] = "";
	return peek_memory(&p, ourselves(), (uintptr_t)address, got, sizeof got) &&
		strcmp(got, text) == 0;
}

Test(peek, memory)
{
	char got[8];
	cr_expect(UNTIL(reads(text)));
	cr_expect_not(peek_memory(&p, ourselves(), 8, got, sizeof got), "nothing is mapped there");
	cr_expect_not(peek_memory(&p, ourselves(), UINT64_MAX, got, sizeof got));
	cr_expect(UNTIL(reads(text)), "the helper continues");
}

Test(peek, arguments_and_environment)
{
	char got[100] = "";
	pid_t pid = fork();
	if (pid == 0) {
		execle("/bin/sleep", "sleep", "1000", (char *)NULL, (char *[]){(char *)"A=b", NULL});
		_exit(1);
	}
	const struct peek_target target = {.pid = pid, .owner = geteuid(), .session = pid};
	cr_expect(UNTIL(peek_arguments(&p, target, got, sizeof got) == 11));
	cr_expect_arr_eq(got, "sleep\0001000", 11);
	cr_expect_eq(peek_file(&p, target, "environ", got, sizeof got), 4);
	cr_expect_arr_eq(got, "A=b", 4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect_lt(peek_arguments(&p, target, got, sizeof got), 0, "the process has exited");
}

Test(peek, arguments_longer_than_a_message)
{
	static char large[60001], got[65536];
	memset(large, 'x', sizeof large - 1);
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sleep", large, "1000", (char *)NULL);
		_exit(1);
	}
	const struct peek_target target = {.pid = pid, .owner = geteuid(), .session = pid};
	cr_expect(UNTIL(peek_arguments(&p, target, got, sizeof got) == (ssize_t)sizeof large + 5));
	cr_expect_str_eq(got, large);
	cr_expect_str_eq(got + sizeof large, "1000");
	cr_expect_eq(peek_arguments(&p, target, got, 20000), 20000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(peek, killed_helper_is_started_again)
{
	cr_assert(UNTIL(reads(text)));
	kill(p.pid, SIGKILL);
	cr_expect(UNTIL(reads(text)));
}

Test(peek, without_the_helper_nothing_is_read)
{
	char got[8];
	p.holder = NULL;
	cr_expect_eq(peek_arguments(&p, ourselves(), got, sizeof got), -ENOSYS);
	p.holder = "/nonexistent";
	cr_expect_eq(peek_arguments(&p, ourselves(), got, sizeof got), -ENOENT);
}

/* The helper is stopped, as if the memory that it reads never responded. */
Test(peek, reading_that_hangs)
{
	cr_assert(UNTIL(reads(text)));
	pid_t first = p.pid;
	long long before = until_now_ms();
	kill(first, SIGSTOP);
	for (int i = 0; i < 100; i++)
		cr_expect_not(reads(text), "a hung helper gets no requests");
	cr_expect_lt(until_now_ms() - before, 15000, "%d ms are waited once", PEEK_WAIT_MS);
	/* A new helper replaces it. */
	cr_expect(UNTIL(reads(text)));
	cr_expect_neq(p.pid, first);
	/* The number of hung helpers is limited if they cannot be killed; here they can. */
	for (unsigned i = 0; i < 2 * PEEK_HUNG_MAX; i++) {
		kill(p.pid, SIGSTOP);
		cr_expect_not(reads(text));
		cr_expect(UNTIL(reads(text)));
	}
}

/* A late answer to an earlier request is not used for the next one. */
Test(peek, late_answer_is_ignored)
{
	static const char other[] = "of another question....";
	cr_assert(UNTIL(reads(text)));
	pid_t first = p.pid;
	kill(first, SIGSTOP);
	cr_expect_not(reads(other));
	kill(first, SIGCONT);
	cr_expect(UNTIL(reads(text)));
	cr_expect_eq(p.pid, first);
}
