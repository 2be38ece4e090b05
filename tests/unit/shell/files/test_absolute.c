/* Absolute paths of names. tests/integration/files_raw.test.mjs tests those of a session's shell. */
#include "shell/files/absolute.h"
#include "tests/lib/placed.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(absolute_path, .init = placed_enter, .fini = placed_leave, .timeout = 60);

Test(absolute_path, of_a_directory)
{
	char path[PLACE_PATH_MAX], expected[PLACE_PATH_MAX], longest[PLACE_PATH_MAX];
	static const char *const names[] = {"a", "a/../b", ".", "~", "~a/b", "a/~/b"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		cr_assert_eq(absolute_path(&place, names[i], path), 0, "%s", names[i]);
		snprintf(expected, sizeof expected, "%s/%s", folder.path, names[i]);
		cr_expect_str_eq(path, expected);
	}
	cr_assert_eq(absolute_path(&place, "//x/..", path), 0);
	cr_expect_str_eq(path, "//x/..");
	cr_expect_eq(absolute_path(&place, "~/a", path), -ENOENT, "there is no shell");
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	cr_expect_eq(absolute_path(&place, longest, path), -ENAMETOOLONG);
	longest[0] = '/';
	cr_expect_eq(absolute_path(&place, longest, path), 0);
}

Test(absolute_path, without_a_directory)
{
	char path[PLACE_PATH_MAX];
	struct place nothing;
	place_of_nothing(&nothing);
	cr_assert_eq(place_enter(&nothing), 0);
	cr_expect_eq(absolute_path(&nothing, "a", path), -ENOENT);
	cr_expect_eq(absolute_path(&nothing, "~/a", path), -ENOENT);
	cr_expect_eq(absolute_path(&nothing, "/a", path), 0);
	place_leave(&nothing);
}

/* Start a process with an environment and wait until it has it. */
static pid_t start(char *const environment[])
{
	int ends[2];
	char byte;
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		execle("/bin/sleep", "sleep", "1000", NULL, environment);
		_exit(1);
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 0); /* execve() closes the other end */
	close(ends[0]);
	return child;
}

static void stop(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The absolute path of a name in a new place. */
static int path_of(pid_t shell, const char *name, char path[PLACE_PATH_MAX])
{
	struct place p;
	place_of_shell(&p, shell, getpid());
	cr_assert_eq(place_enter(&p), 0);
	int rc = absolute_path(&p, name, path);
	place_leave(&p);
	return rc;
}

Test(absolute_path, of_the_home_directory)
{
	static char huge[100000] = "A=", other[] = "XHOME=/no", home[] = "HOME=/the home/",
		    empty[] = "HOME=", relative[] = "HOME=relative", longest[5000] = "HOME=/";
	memset(huge + strlen(huge), 'x', sizeof huge - 3);
	memset(longest + strlen(longest), 'x', sizeof longest - 7);
	char *const environments[][4] = {{huge, other, home, NULL}, {empty, NULL}, {relative, NULL},
		{NULL}, {longest, NULL}};
	static const int expected[] = {0, -ENOENT, -ENOENT, -ENOENT, -ENAMETOOLONG};
	char path[PLACE_PATH_MAX];
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		pid_t child = start(environments[i]);
		cr_expect_eq(path_of(child, "~/a", path), expected[i], "%zu", i);
		if (expected[i] == 0)
			cr_expect_str_eq(path, "/the home/a");
		stop(child);
	}
}

Test(absolute_path, of_a_pid_that_was_reused)
{
	char path[PLACE_PATH_MAX], *const environment[] = {(char *)"HOME=/home", NULL};
	pid_t child = start(environment);
	struct place p;
	place_of_shell(&p, child, getpid());
	cr_assert_eq(place_enter(&p), 0);
	p.holder = child;
	p.shell = getpid();
	cr_expect_eq(absolute_path(&p, "~/a", path), -ESRCH);
	place_leave(&p);
	stop(child);
}

Test(absolute_path, reads_the_home_directory_once)
{
	char path[PLACE_PATH_MAX], *const environment[] = {(char *)"HOME=/home", NULL};
	pid_t child = start(environment);
	struct place p;
	place_of_shell(&p, child, getpid());
	cr_assert_eq(place_enter(&p), 0);
	cr_expect_eq(absolute_path(&p, "~/a", path), 0);
	stop(child);
	cr_expect_eq(absolute_path(&p, "~/b", path), 0);
	cr_expect_str_eq(path, "/home/b");
	place_leave(&p);
}

/* HOME behind more than 256 KiB of other variables is not found, nor is one that is cut there. */
Test(absolute_path, of_a_home_directory_in_a_large_environment)
{
	enum { LIMIT = 256 << 10, PART = LIMIT / 4 };
	static char parts[4][PART], home[] = "HOME=/home", last[PART + 1];
	char path[PLACE_PATH_MAX];
	for (size_t i = 0; i < 4; i++)
		memset(parts[i], 'x', PART - 1);
	pid_t child = start(
		(char *[]){parts[0], parts[1], parts[2], parts[3], parts[0], home, NULL});
	cr_expect_eq(path_of(child, "~/a", path), -ENOENT);
	stop(child);
	for (size_t before = LIMIT - sizeof home - 1; before <= LIMIT + 1; before++) {
		memset(last, 'x', PART);
		last[before - 3 * PART - 1] = '\0';
		child = start((char *[]){parts[0], parts[1], parts[2], last, home, NULL});
		cr_expect_eq(path_of(child, "~/a", path),
			before + sizeof home <= LIMIT ? 0 : -ENOENT, "%zu", before);
		stop(child);
	}
}
