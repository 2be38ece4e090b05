/*
 * Moves to another file system (/dev/shm, if it is one). tests/integration/files.test.mjs tests moves within one
 * file system.
 */
#include "shell/files/move.h"

#include "shell/files/temp_name.h"
#include "shell/files/copy.h"
#include "tests/lib/placed.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static char elsewhere[] = "/dev/shm/ringside-move-XXXXXX";
static char source[64];
static bool elsewhere_is_other;      /* another file system */
static unsigned synced, synced_late; /* directories synced; and those after the source was removed */

/* Replaces libc's function: counts what is synced, and when. */
int fsync(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		synced++;
		synced_late += access(source, F_OK) < 0;
	}
	return 0;
}

static void write_text(int dir_fd, const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Create the source and a target on the other file system. */
static void enter(void)
{
	struct stat here, there;
	placed_enter();
	cr_assert_not_null(mkdtemp(elsewhere));
	cr_assert_eq(stat(elsewhere, &there), 0);
	cr_assert_eq(fstat(folder.fd, &here), 0);
	snprintf(source, sizeof source, "%s/source", elsewhere);
	cr_assert_eq(mkdir(source, 0700), 0);
	int fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	write_text(fd, "file", "moved");
	close(fd);
	elsewhere_is_other = here.st_dev != there.st_dev;
}

static void leave(void)
{
	copy_remove_tree(AT_FDCWD, elsewhere);
	placed_leave();
}

TestSuite(move_across, .init = enter, .fini = leave);

static int move(void)
{
	bool missing;
	if (!elsewhere_is_other)
		cr_skip_test("/dev/shm is no other file system");
	return move_entry(&place, source, "target", &missing);
}

static bool is_at(const char *name)
{
	return faccessat(folder.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Number of names that begin with a dot. */
static unsigned count_hidden(void)
{
	unsigned count = 0;
	int fd = openat(folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	cr_assert_not_null(dir);
	for (const struct dirent *e; (e = readdir(dir));)
		count += e->d_name[0] == '.' && strcmp(e->d_name, ".") != 0 &&
			strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return count;
}

/* Leave a temporary directory like that of a server killed in the middle of a move. */
static int leave_temporary(char name[NAME_MAX + 1])
{
	temp_name_make("target", "-move", false, name, NAME_MAX + 1);
	cr_assert_eq(mkdirat(folder.fd, name, 0700), 0);
	int fd = openat(folder.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	write_text(fd, "half", "ha");
	return fd;
}

Test(move_across, target_is_synced_before_the_source_is_removed)
{
	cr_assert_eq(move(), 0);
	cr_expect(is_at("target/file") && access(source, F_OK) < 0);
	cr_expect_eq(synced, 2, "the tree's own directory, and that of the target");
	cr_expect_eq(synced_late, 0);
	cr_expect_eq(count_hidden(), 0);
}

Test(move_across, leftovers_of_a_killed_server_are_removed_by_the_next_move)
{
	char name[NAME_MAX + 1];
	close(leave_temporary(name));
	cr_assert_eq(move(), 0);
	cr_expect(is_at("target/file"));
	cr_expect_eq(count_hidden(), 0);
}

Test(move_across, other_moves_in_progress_are_untouched)
{
	char name[NAME_MAX + 1], half[2 * NAME_MAX];
	int fd = leave_temporary(name);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	cr_assert_eq(move(), 0);
	snprintf(half, sizeof half, "%s/half", name);
	cr_expect(is_at("target/file") && is_at(half));
	cr_expect_eq(count_hidden(), 1);
	close(fd);
}

Test(move_across, failed_move_keeps_the_source)
{
	cr_assert_eq(mkdirat(folder.fd, "target", 0700), 0);
	cr_assert_eq(mkdirat(folder.fd, "target/source", 0700), 0);
	cr_assert_eq(mkdirat(folder.fd, "target/source/full", 0700), 0);
	cr_assert_eq(move(), -ENOTEMPTY);
	cr_expect_eq(access(source, F_OK), 0);
	cr_expect_eq(count_hidden(), 0);
}

Test(move_across, read_only_directory_keeps_its_mode)
{
	struct stat st;
	cr_assert_eq(chmod(source, 0555), 0);
	cr_assert_eq(move(), 0);
	cr_assert_eq(fstatat(folder.fd, "target", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0555);
}
