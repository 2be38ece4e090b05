#include "ws/net/local_socket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[PATH_MAX], plain[64];
static const char *why;

static const char *default_with(const char *xdg)
{
	snprintf(plain, sizeof plain, "/tmp/ringside-%u", (unsigned)geteuid());
	if (xdg)
		setenv("XDG_RUNTIME_DIR", xdg, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	why = local_socket_default_dir(dir);
	return dir;
}

/* Removed at the end of the test. */
static char place[] = "/tmp/ringside-xdg-XXXXXX";

static void make_place(mode_t mode)
{
	cr_assert_not_null(mkdtemp(place));
	cr_assert_eq(chmod(place, mode), 0);
}

Test(local_socket_default_dir, runtime_directory_if_it_is_private)
{
	char want[64];
	make_place(0755);
	snprintf(want, sizeof want, "%s/ringside", place);
	cr_assert_str_eq(default_with(place), want);
	cr_assert_null(why);
	rmdir(place);
}

Test(local_socket_default_dir, otherwise_in_tmp)
{
	static const struct {
		const char *xdg, *why;
	} others[] = {
		{NULL, NULL},
		{"", NULL},
		{"relative", "absolute"},
		{"/nowhere/at/all", "No such file"},
		{"/etc/passwd", "no directory"},
		{"/proc/self/exe", "symbolic link"},
		{"/var/tmp", "other users"},
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const char *got = default_with(others[i].xdg);
		cr_assert_str_eq(got, plain);
		if (others[i].why)
			cr_assert(why && (strstr(why, others[i].why) || strstr(why, "another user")),
				"%s: %s", others[i].xdg, why);
		else
			cr_assert_null(why);
	}
}

Test(local_socket_default_dir, not_in_a_directory_that_others_can_write)
{
	make_place(0770);
	cr_assert_str_eq(default_with(place), plain);
	cr_assert_str_eq(why, "can be written to by other users");
	rmdir(place);
}

Test(local_socket_default_dir, not_in_a_path_that_is_too_long)
{
	static char text[PATH_MAX];
	memset(text, '/', sizeof text - 1);
	cr_assert_str_eq(default_with(text), plain);
	cr_assert_str_eq(why, "is too long");
}

Test(local_socket_find_dir, default_if_no_server_runs)
{
	char want[64];
	make_place(0700);
	snprintf(want, sizeof want, "%s/ringside", place);
	default_with(place);
	local_socket_find_dir(dir);
	/* Unless this user runs a server, whose directory is found then. */
	cr_assert(strcmp(dir, want) == 0 || strcmp(dir, plain) == 0 ||
			strncmp(dir, "/run/user/", 10) == 0,
		"%s", dir);
	rmdir(place);
}

Test(local_socket_find_dir, directory_of_the_running_server)
{
	char sock[96], inner[64];
	make_place(0700);
	snprintf(inner, sizeof inner, "%s/ringside", place);
	snprintf(sock, sizeof sock, "%s/" LOCAL_SOCKET_NAME, inner);
	cr_assert_eq(mkdir(inner, 0700), 0);
	FILE *f = fopen(sock, "we");
	cr_assert_not_null(f);
	fclose(f);
	default_with(place);
	cr_assert_null(local_socket_find_dir(dir));
	cr_assert_str_eq(dir, inner);
	unlink(sock);
	rmdir(inner);
	rmdir(place);
}
