#include "shell/cgroup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char mounts[] =
	"22 1 0:21 / / rw - ext4 /dev/sda1 rw\n"
	"25 22 0:23 / /sys/fs/cgroup/pids rw,nosuid - cgroup cgroup rw,pids\n"
	"26 22 0:24 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

Test(cgroup_find, our_cgroup_is_below_the_mount_of_v2)
{
	static const struct {
		const char *name, *own, *want;
	} cases[] = {
		{"service", "0::/system.slice/ringside.service\n",
			"/sys/fs/cgroup/system.slice/ringside.service"},
		{"beside v1", "9:pids:/elsewhere\n0::/a/b\n", "/sys/fs/cgroup/a/b"},
		{"the root", "0::/\n", "/sys/fs/cgroup"},
		{"outside of the namespace", "0::/../other\n", NULL},
		{"v1 alone", "9:pids:/a\n", NULL},
		{"nothing", "", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[PATH_MAX] = "";
		bool found = cgroup_find(mounts, cases[i].own, path);
		cr_expect(eq(int, found, cases[i].want != NULL), "%s", cases[i].name);
		if (cases[i].want)
			cr_expect(eq(int, strcmp(path, cases[i].want), 0), "%s", cases[i].name);
	}
}

Test(cgroup_find, mount_of_a_part_is_the_root)
{
	static const char part[] = "26 22 0:24 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
	char path[PATH_MAX];
	cr_assert(cgroup_find(part, "0::/docker/1/x\n", path));
	cr_expect(eq(int, strcmp(path, "/sys/fs/cgroup/x"), 0));
	cr_assert(cgroup_find(part, "0::/docker/1\n", path));
	cr_expect(eq(int, strcmp(path, "/sys/fs/cgroup"), 0));
	cr_expect(eq(int, cgroup_find(part, "0::/docker/12\n", path), 0));
	cr_expect(eq(int, cgroup_find(part, "0::/other\n", path), 0));
}

Test(cgroup_find, without_v2_there_is_no_path)
{
	char path[PATH_MAX];
	cr_expect(eq(int,
		cgroup_find("25 22 0:23 / /sys/fs/cgroup/pids rw - cgroup cgroup rw\n", "0::/a\n",
			path),
		0));
	cr_expect(eq(int, cgroup_find("", "0::/a\n", path), 0));
	/* A word that only looks similar. */
	cr_expect(eq(int, cgroup_find("1 2 0:1 / / rw - ext4 cgroup2 rw\n", "0::/a\n", path), 0));
}
