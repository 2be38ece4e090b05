#include "pty/marked.h"
#include "tests/lib/leak.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "RINGSIDE_TEST_MARK"

struct sought {
	const char *mark;
	struct marked_process found;
	unsigned count, all;
};

static void look(void *user, const struct marked_process *k)
{
	struct sought *s = user;
	s->all++;
	if (strcmp(k->mark, s->mark) != 0)
		return;
	s->found = *k;
	s->count++;
}

static struct sought find(const char *mark)
{
	struct sought s = {.mark = mark};
	cr_assert_eq(marked_each(VARIABLE "=", look, &s), 0);
	return s;
}

TestSuite(marked, .timeout = 60);

/*
 * A process with this mark, in a session of its own, that starts no other. Its name has all that could be taken for the
 * end of a name. It reads from a pipe that never has anything.
 */
static pid_t child(const char *mark)
{
	int never[2];
	cr_assert_eq(pipe(never), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* It ends with a test that fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(never[0], STDIN_FILENO);
		setenv(VARIABLE, mark, 1);
		setsid();
		execl("/bin/bash", ") Z 1 2", "-c",
			"echo -n ') Z 1 2 (' >/proc/self/comm; read -r x", (char *)NULL);
		_exit(1);
	}
	close(never[0]);
	return pid;
}

Test(marked, is_found_by_its_mark)
{
	cr_expect_eq(find("a mark").count, 0);
	pid_t pid = child("a mark");
	cr_assert(UNTIL(find("a mark").count > 0));
	cr_assert(UNTIL(find("a mark").found.session == pid));
	struct sought s = find("a mark");
	cr_expect_eq(s.found.group, pid);
	cr_expect_gt(s.all, 1);
	cr_expect_eq(find("a mar").count, 0);
	kill(-pid, SIGKILL);
	/* One that has ended is none, though it has not been waited for. */
	cr_expect(UNTIL(find("a mark").count == 0));
	waitpid(pid, NULL, 0);
	ASSERT_NO_LEAKS();
}

Test(marked, long_marks_and_large_environments)
{
	char *large = calloc(1, 100001), mark[121] = "";
	memset(large, 'x', 100000);
	memset(mark, 'm', sizeof mark - 1);
	setenv("A_LARGE_ONE", large, 1);
	pid_t pid = child(mark);
	cr_expect(UNTIL(find(mark).count > 0));
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free(large);
}

Test(marked, signal_for_who_was_seen_alone)
{
	char mark[] = "signalled";
	pid_t pid = child(mark);
	struct sought s;
	cr_assert(UNTIL((s = find(mark)).found.pid == pid && s.found.session == pid));
	struct marked_process seen = s.found;
	seen.mark = "another mark";
	cr_expect_not(marked_signal(VARIABLE "=", &seen, SIGKILL));
	seen.mark = mark;
	seen.session++;
	cr_expect_not(marked_signal(VARIABLE "=", &seen, SIGKILL));
	cr_expect_eq(waitpid(pid, NULL, WNOHANG), 0, "it lives");
	seen.session--;
	cr_expect(marked_signal(VARIABLE "=", &seen, SIGKILL));
	int status;
	cr_expect_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_expect_not(marked_signal(VARIABLE "=", &seen, SIGKILL), "it is no more");
}
