#include "shell/files/replace.h"
#include "shell/own_error.h"
#include "tests/lib/placed.h"

#include <errno.h>
#include <string.h>
#include <utime.h>

TestSuite(replace, .init = placed_enter, .fini = placed_leave);

static int put(const char *path, const char *text)
{
	const struct replace_options options = {.parents = true};
	struct replace r;
	int rc = replace_open(&place, path, &options, &r);
	if (rc < 0)
		return rc;
	cr_assert_eq(replace_write(&r, text, strlen(text)), 0);
	return replace_commit(&r);
}

static const char *text_of(const char *name)
{
	static char text[64];
	int fd = openat(folder.fd, name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

Test(replace, creates_and_replaces)
{
	struct stat before, after;
	cr_assert_eq(put("a/b/c", "one"), 0);
	cr_assert_str_eq(text_of("a/b/c"), "one");
	cr_assert_eq(fchmodat(folder.fd, "a/b/c", 0640, 0), 0);
	cr_assert_eq(fstatat(folder.fd, "a/b/c", &before, 0), 0);
	cr_assert_eq(put("a/b/c", "two"), 0);
	cr_assert_eq(fstatat(folder.fd, "a/b/c", &after, 0), 0);
	cr_assert_str_eq(text_of("a/b/c"), "two");
	cr_assert_eq(after.st_mode, before.st_mode);
	cr_assert_neq(after.st_ino, before.st_ino);
}

Test(replace, target_is_unchanged_until_the_end)
{
	const struct replace_options options = {.parents = false};
	struct replace r;
	cr_assert_eq(put("file", "old"), 0);
	cr_assert_eq(replace_open(&place, "file", &options, &r), 0);
	cr_assert_eq(replace_write(&r, "new", 3), 0);
	cr_assert_str_eq(text_of("file"), "old");
	cr_assert_eq(place_open(&place, r.temporary[0] ? r.temporary : "none", O_PATH, 0), -ENOENT);
	replace_abort(&r);
	cr_assert_str_eq(text_of("file"), "old");
	cr_assert_eq(replace_open(&place, "none/file", &options, &r), -ENOENT);
}

Test(replace, leftovers_of_a_killed_server_do_not_matter)
{
	char left[NAME_MAX + 1];
	struct replace r;
	const struct replace_options options = {.parents = false};
	cr_assert_eq(put("file", "old"), 0);
	/* The temporary name is in use. */
	snprintf(left, sizeof left, ".ringside-%s", "aad01178f02a6a23");
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(replace_open(&place, "file", &options, &r), 0);
		cr_assert_eq(replace_write(&r, "new", 3), 0);
		int fd = openat(folder.fd, left, O_WRONLY | O_CREAT, 0600);
		cr_assert_geq(fd, 0);
		close(fd);
		cr_assert_eq(replace_commit(&r), 0);
		cr_assert_str_eq(text_of("file"), "new");
	}
}

Test(replace, links_and_special_files)
{
	struct stat st;
	cr_assert_eq(put("file", "old"), 0);
	cr_assert_eq(symlinkat("file", folder.fd, "link"), 0);
	cr_assert_eq(put("link", "by link"), 0);
	cr_assert_str_eq(text_of("file"), "by link");
	cr_assert_eq(fstatat(folder.fd, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_eq(put("/dev/null", "x"), 0);
	cr_assert_eq(mkfifoat(folder.fd, "fifo", 0600), 0);
	cr_assert_eq(put("fifo", "x"), -ENXIO);
	cr_assert_eq(put(".", "x"), -EISDIR);
	cr_assert_eq(put("new/", "x"), -EISDIR);
	cr_assert_eq(mkdirat(folder.fd, "dir", 0700), 0);
	cr_assert_eq(put("dir", "x"), -EISDIR);
}

Test(replace, links_lead_to_the_replaced_file)
{
	struct stat st;
	cr_assert_eq(mkdirat(folder.fd, "dir", 0700), 0);
	cr_assert_eq(put("dir/file", "old"), 0);
	cr_assert_eq(symlinkat("dir", folder.fd, "way"), 0);
	cr_assert_eq(symlinkat("../second", folder.fd, "dir/first"), 0);
	cr_assert_eq(symlinkat("way/./file", folder.fd, "second"), 0);
	cr_assert_eq(put("way/first", "new"), 0);
	cr_assert_str_eq(text_of("dir/file"), "new");
	cr_assert_eq(fstatat(folder.fd, "dir/first", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_eq(symlinkat("dir/none", folder.fd, "nowhere"), 0);
	cr_assert_eq(put("nowhere", "made"), 0);
	cr_assert_str_eq(text_of("dir/none"), "made");
	cr_assert_eq(symlinkat("none/none", folder.fd, "lost"), 0);
	cr_assert_eq(put("lost", "x"), -ENOENT);
	cr_assert_eq(symlinkat("circle", folder.fd, "circle"), 0);
	cr_assert_eq(put("circle", "x"), -ELOOP);
	cr_assert_eq(symlinkat("dir/", folder.fd, "slash"), 0);
	cr_assert_eq(put("slash", "x"), -EISDIR);
}

Test(replace, target_of_a_link_is_unchanged_until_the_end)
{
	const struct replace_options options = {.only = REPLACE_SAME};
	struct replace r, second;
	cr_assert_eq(put("file", "older"), 0);
	cr_assert_eq(symlinkat("file", folder.fd, "link"), 0);
	cr_assert_eq(replace_open(&place, "link", &options, &r), 0);
	cr_assert_eq(replace_open(&place, "link", &options, &second), 0);
	cr_assert(!r.in_place);
	cr_assert_eq(replace_write(&second, "the old content", 15), 0);
	cr_assert_eq(replace_commit(&second), 0);
	cr_assert_eq(replace_commit(&r), -ERR_CHANGED);
	cr_assert_eq(replace_open(&place, "link", &options, &r), 0);
	cr_assert_eq(replace_write(&r, "new", 3), 0);
	cr_assert_str_eq(text_of("file"), "the old content");
	replace_abort(&r);
	cr_assert_str_eq(text_of("file"), "the old content");
	cr_assert_eq(put("link", "new"), 0);
	cr_assert_str_eq(text_of("file"), "new");
}
