#include "shell/output/spool.h"

#include "tests/lib/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(spool, .timeout = 60);

/* Make one of either kind. */
static int make(const struct folder *f, bool pipe, char id[SPOOL_ID_SIZE])
{
	int place = -1,
	    rc = pipe ? spool_create_pipe(f->path, id, &place) : spool_create(f->path, id);
	if (place >= 0)
		close(place);
	return rc;
}

Test(spool, a_file_is_filled_and_taken_once)
{
	struct folder f;
	char id[SPOOL_ID_SIZE], text[8] = "";
	uint64_t size;
	folder_make(&f);
	cr_assert_eq(spool_create(f.path, id), 0);
	cr_assert_eq(spool_add(f.path, id, 0, "abc", 3, &size), 0);
	cr_expect_eq(spool_add(f.path, id, 9, "x", 1, &size), -ESPIPE);
	cr_expect_eq(size, 3);
	int fd = spool_take(f.path, id);
	cr_assert_geq(fd, 0);
	cr_expect_eq(read(fd, text, sizeof text), 3);
	cr_expect_str_eq(text, "abc");
	close(fd);
	cr_expect_eq(spool_take(f.path, id), -ENOENT);
	folder_remove(&f);
}

Test(spool, a_pipe_is_no_file_and_the_other_way_round)
{
	struct folder f;
	char id[SPOOL_ID_SIZE];
	int place;
	struct stat st;
	uint64_t size;
	folder_make(&f);
	cr_assert_eq(spool_create_pipe(f.path, id, &place), 0);
	cr_assert_eq(fstat(place, &st), 0);
	cr_expect(S_ISFIFO(st.st_mode));
	cr_expect_eq(st.st_mode & 0777, 0600);
	close(place);
	cr_expect_eq(spool_add(f.path, id, 0, "x", 1, &size), -ENOENT);
	cr_expect_eq(spool_take(f.path, id), -ENOENT);
	spool_clear_pipes(f.path);
	cr_expect_eq(spool_remove(f.path, id), -ENOENT);
	folder_remove(&f);
}

Test(spool, there_are_so_many_of_both_kinds)
{
	struct folder f;
	char id[SPOOL_ID_SIZE];
	folder_make(&f);
	for (unsigned i = 0; i < SPOOLS_MAX; i++)
		cr_assert_eq(make(&f, i % 2, id), 0);
	cr_expect_eq(make(&f, false, id), -EUSERS);
	cr_expect_eq(make(&f, true, id), -EUSERS);
	folder_remove(&f);
}

Test(spool, one_that_was_idle_for_long_makes_room)
{
	struct folder f;
	char old[SPOOL_ID_SIZE], id[SPOOL_ID_SIZE], path[SPOOL_PATH_MAX];
	const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	folder_make(&f);
	cr_assert_eq(make(&f, false, old), 0);
	for (unsigned i = 1; i < SPOOLS_MAX; i++)
		cr_assert_eq(make(&f, true, id), 0);
	snprintf(path, sizeof path, "%s/stdin/%s", f.path, old);
	cr_assert_eq(utimensat(AT_FDCWD, path, past, 0), 0);
	cr_expect_eq(make(&f, true, id), 0);
	cr_expect_eq(make(&f, true, id), -EUSERS);
	cr_expect_eq(spool_remove(f.path, old), -ENOENT);
	folder_remove(&f);
}
