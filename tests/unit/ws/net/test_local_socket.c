#include "ws/net/local_socket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[PATH_MAX], plain[64];

static const char *default_with(const char *xdg)
{
	snprintf(plain, sizeof plain, "/tmp/ringside-%u", (unsigned)geteuid());
	if (xdg)
		setenv("XDG_RUNTIME_DIR", xdg, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	local_socket_default_dir(dir);
	return dir;
}

Test(local_socket_default_dir, in_the_systems_if_that_is_there)
{
	cr_assert_str_eq(default_with("/var/tmp"), "/var/tmp/ringside");
}

Test(local_socket_default_dir, otherwise_in_tmp)
{
	static const char *const others[] = {NULL, "", "relative", "/nowhere/at/all", "/etc/passwd"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const char *got = default_with(others[i]);
		cr_assert_str_eq(got, plain);
	}
}
