#include "pty/parentage.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that lives until its pipe is closed; its name is one that wants to be misread. */
static pid_t start_child(int *ret_end)
{
	int fds[2];
	char byte;
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "x) S 1 (y");
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) != 0);
	}
	close(fds[0]);
	*ret_end = fds[1];
	return pid;
}

Test(parentage, child_is_below)
{
	int end;
	pid_t child = start_child(&end);
	cr_expect_eq(parentage_parent(child), getpid());
	cr_expect(parentage_is_below(child, getpid()));
	cr_expect(parentage_is_below(child, child));
	cr_expect_not(parentage_is_below(getpid(), child));
	cr_expect_not(parentage_is_below(getppid(), getpid()));
	close(end);
	waitpid(child, NULL, 0);
}

Test(parentage, orphan_of_a_subreaper_is_below_it)
{
	int fds[2], end;
	pid_t orphan;
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t child = fork();
	if (child == 0) {
		orphan = start_child(&end);
		(void)!write(fds[1], &orphan, sizeof orphan);
		(void)!write(fds[1], &end, sizeof end);
		_exit(0);
	}
	cr_assert_eq(read(fds[0], &orphan, sizeof orphan), (ssize_t)sizeof orphan);
	waitpid(child, NULL, 0);
	/* It ends with the last of those that have its pipe: its parent. Whichever came first, it was below us. */
	cr_expect(parentage_is_below(orphan, getpid()));
	waitpid(orphan, NULL, 0);
}

Test(parentage, who_has_ended_is_below_everybody)
{
	int end;
	pid_t child = start_child(&end);
	close(end);
	waitpid(child, NULL, 0);
	cr_expect_eq(parentage_parent(child), -1);
	cr_expect(parentage_is_below(child, getpid()));
	cr_expect(parentage_is_below(child, 1));
}
