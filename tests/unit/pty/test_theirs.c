/* What another process has open; here it is ourselves. */
#include "pty/theirs.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(theirs, .timeout = 20);

Test(theirs, directory_is_known_again)
{
	struct stat tmp, root;
	int fd = open("/tmp", O_PATH | O_DIRECTORY);
	cr_assert_eq(stat("/tmp", &tmp), 0);
	cr_assert_eq(stat("/", &root), 0);
	cr_expect_eq(theirs_is(getpid(), fd, &tmp), 1);
	cr_expect_eq(theirs_is(getpid(), fd, &root), 0);
	close(fd);
	cr_expect_eq(theirs_is(getpid(), fd, &tmp), -ENOENT);
}

Test(theirs, memory_is_opened_anew)
{
	char text[8] = "";
	int memory = memfd_create("theirs", 0);
	cr_assert_eq(write(memory, "hello", 5), 5);
	int fd = theirs_open_memory(getpid(), memory, O_RDONLY);
	cr_assert_geq(fd, 0);
	cr_expect_eq(read(fd, text, sizeof text), 5, "from its beginning: the place is not shared");
	cr_expect_eq(write(fd, "x", 1), -1);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	close(memory);
}

Test(theirs, what_is_no_memory_is_not_opened)
{
	char name[] = "/tmp/ringside-theirs-XXXXXX";
	int ends[2], file = mkstemp(name);
	cr_assert_eq(pipe(ends), 0);
	unlink(name);
	const int fds[] = {file, ends[0], ends[1], open("/", O_RDONLY), open("/dev/null", O_RDWR)};
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		cr_expect_eq(theirs_open_memory(getpid(), fds[i], O_RDONLY), -EPROTO, "%zu", i);
		close(fds[i]);
	}
	cr_expect_eq(theirs_open_memory(getpid(), file, O_RDONLY), -ENOENT);
}
