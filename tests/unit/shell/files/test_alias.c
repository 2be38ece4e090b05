#include "shell/files/alias.h"
#include "tests/lib/placed.h"

#include <errno.h>
#include <string.h>

Test(alias_resolve, resolves_the_place_and_paths_below_it)
{
	static const struct {
		const char *path, *real; /* with target /t/w */
	} cases[] = {
		{"/workspace", "/t/w"},
		{"/workspace/", "/t/w/"},
		{"/workspace/a/b", "/t/w/a/b"},
		{"//workspace//a/", "/t/w//a/"},
		{"/./workspace/./a", "/t/w/./a"},
		{"/workspace/a/../b", "/t/w/a/../b"},
		{"/tmp/../workspace/a", "/t/w/a"},
		{"/workspace/../workspace/a", "/t/w/a"},
		{"/workspace/../etc/passwd", "/etc/passwd"},
		{"/workspace/a/../../etc", "/etc"},
		{"/workspace/..", "/"},
		{"/workspace/../..", "/"},
		{"/workspaces", "/workspaces"},
		{"/workspac", "/workspac"},
		{"/a/workspace", "/a/workspace"},
		{"/a/../b", "/a/../b"},
		{"/", "/"},
		{"//..//", "//..//"},
		{"/workspace/workspace", "/t/w/workspace"},
	};
	char real[64];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert_eq(alias_resolve("/t/w", cases[i].path, real, sizeof real), 0);
		cr_expect_str_eq(real, cases[i].real, "%s: %s", cases[i].path, real);
		cr_assert_eq(alias_resolve(NULL, cases[i].path, real, sizeof real), 0);
		cr_expect_str_eq(real, cases[i].path);
	}
}

Test(alias_resolve, root_can_be_a_target)
{
	char real[64];
	cr_assert_eq(alias_resolve("/", "/workspace", real, sizeof real), 0);
	cr_expect_str_eq(real, "/");
	cr_assert_eq(alias_resolve("/", "/workspace/a", real, sizeof real), 0);
	cr_expect_str_eq(real, "/a");
}

Test(alias_resolve, paths_that_do_not_fit)
{
	char real[8];
	cr_expect_eq(alias_resolve("/t/w", "/workspace/a", real, sizeof real), 0);
	cr_expect_eq(alias_resolve("/t/w", "/workspace/abc", real, sizeof real), -ENAMETOOLONG);
	cr_expect_eq(alias_resolve("/t/w", "/12345678", real, sizeof real), -ENAMETOOLONG);
}

Test(alias_in_places, paths_below_a_place)
{
	struct place_entry e;
	struct stat st;
	placed_enter();
	place.workspace = folder.path;
	cr_assert_eq(place_make_parents(&place, "/workspace/a/b/file"), 0);
	cr_expect_eq(fstatat(folder.fd, "a/b", &st, 0), 0);
	int fd = place_open(&place, "/workspace/a/b/file", O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_expect_eq(fstatat(folder.fd, "a/b/file", &st, 0), 0);
	cr_assert_eq(place_find(&place, "/workspace/new", &e), 0);
	cr_expect_str_eq(e.name, "new");
	cr_expect_eq(mkdirat(e.dir_fd, e.name, 0700), 0);
	place_entry_close(&e);
	cr_expect_eq(fstatat(folder.fd, "new", &st, 0), 0);
	/* The place itself is the directory, not a name in the root. */
	cr_assert_eq(place_find(&place, "/workspace", &e), 0);
	cr_expect_str_neq(e.name, ALIAS_NAME);
	place_entry_close(&e);
	placed_leave();
}
