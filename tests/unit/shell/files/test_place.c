/* Paths outside of sessions. tests/integration/files.test.mjs tests those in sandboxes. */
#include "shell/files/place.h"
#include "tests/lib/placed.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(place_open, .init = placed_enter, .fini = placed_leave);
TestSuite(place_find, .init = placed_enter, .fini = placed_leave);
TestSuite(place_make_parents, .init = placed_enter, .fini = placed_leave);

Test(place_open, relative_to_the_directory_or_absolute)
{
	char path[300];
	int fd = place_open(&place, "made", O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	snprintf(path, sizeof path, "%s/made", folder.path);
	fd = place_open(&place, path, O_PATH, 0);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(place_open(&place, "none", O_RDONLY, 0), -ENOENT);
}

Test(place_open, own_process_is_out_of_reach)
{
	char path[64];
	static const char *const own[] = {"/proc/self/maps", "/proc/self", "/proc/thread-self/stat",
		"/proc/self/fd", "/proc/self/task"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		cr_expect_lt(place_open(&place, own[i], O_RDONLY, 0), 0, "%s", own[i]);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)getpid());
	cr_assert_eq(place_open(&place, path, O_RDWR, 0), -EACCES);
	cr_assert_eq(place_open(&place, "/proc/self/cwd", O_RDONLY, 0), -ELOOP);
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(proc, 0);
	snprintf(path, sizeof path, "%d", (int)getpid());
	cr_assert_eq(place_open_in(proc, path, O_RDONLY | O_DIRECTORY), -EACCES,
		"nor from a directory above");
	close(proc);
	int fd = place_open(&place, "/proc/1/stat", O_RDONLY, 0);
	cr_assert_geq(fd, 0, "other processes are accessible");
	close(fd);
}

Test(place_find, last_name_of_the_path)
{
	static const struct {
		const char *path, *name; /* NULL: -EBUSY */
	} cases[] = {{"a", "a"}, {"a/", "a"}, {"./a///", "a"}, {"/", NULL}, {"..", NULL},
		{".", NULL}, {"a/..", NULL}, {"///", NULL}, {"/tmp", "tmp"}};
	struct place_entry e;
	cr_assert_eq(mkdirat(folder.fd, "a", 0700), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int rc = place_find(&place, cases[i].path, &e);
		cr_assert_eq(rc, cases[i].name ? 0 : -EBUSY, "%s: %d", cases[i].path, rc);
		if (rc < 0)
			continue;
		cr_expect_str_eq(e.name, cases[i].name);
		place_entry_close(&e);
	}
	cr_assert_eq(place_find(&place, "none/a", &e), -ENOENT);
}

Test(place_make_parents, creates_missing_directories)
{
	static const struct {
		const char *path, *made; /* "": none */
	} cases[] = {{"one", ""}, {"x/one", "x"}, {"p/q//r/one", "p/q/r"}, {"u/../v/one", "v"},
		{"p/q/one", ""}};
	struct stat st;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert_eq(place_make_parents(&place, cases[i].path), 0, "%s", cases[i].path);
		if (cases[i].made[0])
			cr_assert_eq(
				fstatat(folder.fd, cases[i].made, &st, 0), 0, "%s", cases[i].made);
	}
	cr_assert_lt(fstatat(folder.fd, "one", &st, 0), 0);
	cr_assert_eq(symlinkat("nowhere", folder.fd, "dangling"), 0);
	cr_assert_lt(place_make_parents(&place, "dangling/x/one"), 0);
}

Test(place_enter, process_that_is_not_below_the_holder_is_refused)
{
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	place_of_shell(&place, child, getpid());
	cr_assert_eq(place_enter(&place), 0);
	cr_assert_lt(place.root_fd, 0, "it has no sandbox");
	place_leave(&place);
	place_of_shell(&place, getpid(), child);
	cr_assert_eq(place_enter(&place), -ESRCH);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	place_of_shell(&place, child, getpid());
	cr_assert_eq(place_enter(&place), -ESRCH);
}
