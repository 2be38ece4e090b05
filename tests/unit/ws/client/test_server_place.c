/* The path of the server, of installed programs and of build trees. */
#include "ws/client/server_place.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *exe, *bindir, *libexecdir, *want; /* want: NULL = not installed */
} cases[] = {
	{"/usr/bin/ringside", "bin", "libexec", "/usr/libexec/ringside/ringside-server"},
	{"/tmp/dest/opt/r/bin/ringside", "bin", "libexec",
		"/tmp/dest/opt/r/libexec/ringside/ringside-server"},
	{"/bin/ringside", "bin", "libexec", "/libexec/ringside/ringside-server"},
	{"/p/a/b/ringside", "a/b", "lib/x", "/p/lib/x/ringside/ringside-server"},
	{"/p/bin/other-name", "bin", "libexec", "/p/libexec/ringside/ringside-server"},
	{"/p/bin/ringside", "bin", "/lx", "/lx/ringside/ringside-server"},
	{"/b/ringside", "/b", "/lx", "/lx/ringside/ringside-server"},
	{"/b/c/ringside", "/b", "/lx", NULL},
	{"/b/ringside", "/b", "libexec", NULL},
	{"/src/build/ringside", "bin", "libexec", NULL},
	{"/src/sbin/ringside", "bin", "libexec", NULL},
	{"bin/ringside", "bin", "libexec", NULL},
	{"ringside", "bin", "libexec", NULL},
	{"", "bin", "libexec", NULL},
	{"/ringside", "", "libexec", NULL},
};

Test(server_place_installed, relative_to_the_program)
{
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program_dirs dirs = {cases[i].bindir, cases[i].libexecdir};
		int rc = server_place_installed(cases[i].exe, &dirs, path);
		cr_assert_eq(rc, cases[i].want ? 0 : -ENOENT, "%s: %d", cases[i].exe, rc);
		if (cases[i].want)
			cr_assert_str_eq(path, cases[i].want);
	}
}

Test(server_place, path_that_is_too_long)
{
	static char exe[PATH_MAX + 40];
	char path[PATH_MAX];
	struct program_dirs dirs = {"bin", "libexec"};
	memset(exe, 'x', sizeof exe - 1);
	exe[0] = '/';
	memcpy(exe + PATH_MAX - 14, "/bin/ringside", sizeof "/bin/ringside");
	cr_assert_eq(server_place_installed(exe, &dirs, path), -ENAMETOOLONG);
	cr_assert_eq(server_place_beside(exe, path), -ENAMETOOLONG);
}

Test(server_place_beside, in_a_build_tree)
{
	char path[PATH_MAX];
	cr_assert_eq(server_place_beside("/src/build/ringside", path), 0);
	cr_assert_str_eq(path, "/src/build/ringside-server");
}
