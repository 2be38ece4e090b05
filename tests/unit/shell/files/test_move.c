/* To another file system: /dev/shm, where that is one. Within one it is rename(2); see tests/integration/files.test.mjs. */
#include "shell/files/move.h"

#include "shell/files/temp_name.h"
#include "shell/files/copy.h"
#include "tests/lib/placed.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static struct folder folder;
static struct place place;
static char away[] = "/dev/shm/ringside-move-XXXXXX";
static char source[64];
static unsigned synced, synced_late; /* directories; and those after the source had gone */

/* In place of that of libc: what is written down, and when. */
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

/* Something to be moved, on the other file system. */
static void enter(void)
{
	struct stat here, there;
	placed_enter(&place, &folder);
	cr_assert_not_null(mkdtemp(away));
	cr_assert_eq(stat(away, &there), 0);
	cr_assert_eq(fstat(folder.fd, &here), 0);
	snprintf(source, sizeof source, "%s/source", away);
	cr_assert_eq(mkdir(source, 0700), 0);
	int fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	write_text(fd, "file", "moved");
	close(fd);
	if (here.st_dev == there.st_dev)
		cr_skip_test("/dev/shm is no other file system");
}

static void leave(void)
{
	copy_remove_tree(AT_FDCWD, away);
	placed_leave(&place, &folder);
}

static bool is_at(const char *name)
{
	return faccessat(folder.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many names there are that begin with a dot. */
static unsigned litter(void)
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

/* As a server that was killed in the middle of it leaves it. */
static int leave_behind(char name[NAME_MAX + 1])
{
	temp_name_make("target", "-move", false, name, NAME_MAX + 1);
	cr_assert_eq(mkdirat(folder.fd, name, 0700), 0);
	int fd = openat(folder.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	write_text(fd, "half", "ha");
	return fd;
}

Test(move_across, the_target_is_on_the_disk_before_the_source_goes)
{
	bool missing;
	enter();
	cr_assert_eq(move_entry(&place, source, "target", &missing), 0);
	cr_expect(is_at("target/file") && access(source, F_OK) < 0);
	cr_expect_eq(synced, 2, "the tree's own directory, and that of the target");
	cr_expect_eq(synced_late, 0);
	cr_expect_eq(litter(), 0);
	leave();
}

Test(move_across, what_a_killed_server_has_left_goes_with_the_next)
{
	char name[NAME_MAX + 1];
	bool missing;
	enter();
	close(leave_behind(name));
	cr_assert_eq(move_entry(&place, source, "target", &missing), 0);
	cr_expect(is_at("target/file"));
	cr_expect_eq(litter(), 0);
	leave();
}

Test(move_across, what_somebody_has_under_way_stays)
{
	char name[NAME_MAX + 1], half[2 * NAME_MAX];
	bool missing;
	enter();
	int fd = leave_behind(name);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	cr_assert_eq(move_entry(&place, source, "target", &missing), 0);
	snprintf(half, sizeof half, "%s/half", name);
	cr_expect(is_at("target/file") && is_at(half));
	cr_expect_eq(litter(), 1);
	close(fd);
	leave();
}

Test(move_across, what_cannot_be_put_there_stays_where_it_was)
{
	bool missing;
	enter();
	cr_assert_eq(mkdirat(folder.fd, "target", 0700), 0);
	cr_assert_eq(mkdirat(folder.fd, "target/source", 0700), 0);
	cr_assert_eq(mkdirat(folder.fd, "target/source/full", 0700), 0);
	cr_assert_eq(move_entry(&place, source, "target", &missing), -ENOTEMPTY);
	cr_expect_eq(access(source, F_OK), 0);
	cr_expect_eq(litter(), 0);
	leave();
}

Test(move_across, a_directory_that_may_not_be_written_keeps_its_mode)
{
	struct stat st;
	bool missing;
	enter();
	cr_assert_eq(chmod(source, 0555), 0);
	cr_assert_eq(move_entry(&place, source, "target", &missing), 0);
	cr_assert_eq(fstatat(folder.fd, "target", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0555);
	leave();
}
