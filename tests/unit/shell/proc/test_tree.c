#include "shell/proc/tree.h"

#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child with a child of its own, which reports that it runs. */
static pid_t start(pid_t *ret_grandchild)
{
	int fds[2];
	pid_t grandchild;
	cr_assert_eq(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0)
			while (true)
				pause();
		(void)!write(fds[1], &grandchild, sizeof grandchild);
		waitpid(grandchild, NULL, 0);
		while (true)
			pause();
	}
	cr_assert_eq(read(fds[0], &grandchild, sizeof grandchild), (ssize_t)sizeof grandchild);
	close(fds[0]);
	close(fds[1]);
	*ret_grandchild = grandchild;
	return child;
}

Test(tree, descendants_are_listed, .timeout = 30)
{
	struct proc_status *list;
	size_t count;
	pid_t grandchild, child = start(&grandchild);
	cr_assert_eq(tree_list(getpid(), 0, &list, &count), 0);
	cr_assert_eq(count, 2);
	cr_assert((list[0].pid == child && list[1].pid == grandchild) ||
		(list[1].pid == child && list[0].pid == grandchild));
	free(list);
	cr_assert_eq(tree_list(getpid(), child, &list, &count), 0);
	cr_assert_eq(count, 1, "descendants of the exception count");
	cr_assert_eq(list[0].pid, grandchild);
	free(list);
	cr_assert_eq(
		tree_signal_child(grandchild, getpid(), SIGKILL), -ESRCH, "it is no child of ours");
	/* By group: descendants that are in it, and no other member. */
	cr_assert_eq(setpgid(child, child), 0);
	cr_assert_eq(tree_signal_group(getpid(), child, 0), 1);
	cr_assert_eq(tree_signal_group(grandchild, child, SIGKILL), -ESRCH);
	cr_assert_eq(tree_signal_group(child, getpgrp(), 0), 1);
	cr_assert_eq(tree_signal_group(getpid(), grandchild, SIGKILL), -ESRCH, "it leads no group");
	cr_assert_eq(tree_signal_child(grandchild, child, SIGKILL), 0);
	cr_assert(UNTIL(tree_signal_below(getpid(), 0, 0) == 1));
	cr_assert_eq(tree_signal_below(getpid(), 0, SIGKILL), 1);
	/* A zombie is not alive. */
	cr_assert(UNTIL(tree_signal_below(getpid(), 0, 0) == 0));
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_eq(tree_signal_child(child, getpid(), SIGKILL), -ESRCH);
}
