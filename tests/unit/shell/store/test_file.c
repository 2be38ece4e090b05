#include "shell/store/file.h"
#include "tests/lib/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct folder folder;

static void set_up(void)
{
	folder_make(&folder);
}

static char *text; /* of the last file that was loaded */
static size_t length;

static void tear_down(void)
{
	folder_remove(&folder);
	free(text);
}

static void load(const char *name)
{
	free(text);
	text = NULL;
	cr_assert_eq(file_load(folder.fd, name, 100, &text, &length), 0);
}

TestSuite(file_load, .init = set_up, .fini = tear_down);
TestSuite(file_append, .init = set_up, .fini = tear_down);
TestSuite(file_save, .init = set_up, .fini = tear_down);

Test(file_load, text_is_terminated)
{
	folder_put(&folder, "a", "hello\n");
	load("a");
	cr_assert_eq(length, 6);
	cr_assert_str_eq(text, "hello\n");
}

Test(file_load, empty_file)
{
	folder_put(&folder, "a", "");
	load("a");
	cr_assert_eq(length, 0);
	cr_assert_str_eq(text, "");
}

Test(file_load, size_at_the_limit_and_beyond)
{
	length = 99;
	folder_put(&folder, "a", "12345");
	cr_assert_eq(file_load(folder.fd, "a", 4, &text, &length), -EFBIG);
	cr_assert_null(text);
	cr_assert_eq(length, 99);
	cr_assert_eq(file_load(folder.fd, "a", 5, &text, &length), 0);
}

Test(file_load, missing_file)
{
	cr_assert_eq(file_load(folder.fd, "a", 100, &text, &length), -ENOENT);
	cr_assert_null(text);
}

Test(file_load, directories_and_fifos_are_refused, .timeout = 5)
{
	cr_assert_eq(mkdirat(folder.fd, "d", 0700), 0);
	cr_assert_lt(file_load(folder.fd, "d", 1 << 20, &text, &length), 0);
	cr_assert_eq(mkfifoat(folder.fd, "f", 0600), 0);
	cr_assert_lt(file_load(folder.fd, "f", 1 << 20, &text, &length), 0, "and it must not block");
}

Test(file_save, replaces_the_file_with_private_mode)
{
	struct stat st;
	umask(0);
	cr_assert_eq(file_save(folder.fd, "a", "something long", 14), 0);
	cr_assert_eq(file_save(folder.fd, "a", "x\0y", 3), 0);
	load("a");
	cr_assert_eq(length, 3);
	cr_assert_arr_eq(text, "x\0y", 3);
	cr_assert_eq(fstatat(folder.fd, "a", &st, 0), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
	cr_assert_eq(faccessat(folder.fd, "a.new", F_OK, 0), -1);
}

Test(file_save, empty_text)
{
	cr_assert_eq(file_save(folder.fd, "a", "", 0), 0);
	load("a");
	cr_assert_eq(length, 0);
}

Test(file_save, does_not_follow_a_link)
{
	folder_put(&folder, "target", "precious");
	cr_assert_eq(symlinkat("target", folder.fd, "a.new"), 0);
	cr_assert_eq(file_save(folder.fd, "a", "x", 1), 0);
	load("target");
	cr_assert_str_eq(text, "precious");
}

Test(file_save, does_not_wait_for_a_pipe)
{
	cr_assert_eq(mkfifoat(folder.fd, "a.new", 0600), 0);
	cr_assert_eq(file_save(folder.fd, "a", "x", 1), 0);
	load("a");
	cr_assert_str_eq(text, "x");
}

Test(file_save, failure_keeps_the_old_file_and_leaves_nothing)
{
	cr_assert_eq(mkdirat(folder.fd, "d", 0700), 0);
	folder_put(&folder, "d/x", "");
	cr_assert_lt(file_save(folder.fd, "d", "x", 1), 0);
	cr_assert_eq(faccessat(folder.fd, "d.new", F_OK, 0), -1);
	load("d/x");
}

Test(file_append, appends_to_the_end)
{
	size_t size = 0;
	cr_assert_eq(file_append(folder.fd, "a", "one\n", 4, &size), 0);
	cr_assert_eq(size, 4);
	cr_assert_eq(file_append(folder.fd, "a", "two\n", 4, &size), 0);
	cr_assert_eq(size, 8);
	load("a");
	cr_assert_str_eq(text, "one\ntwo\n");
}

Test(file_append, failed_write_leaves_nothing)
{
	size_t size = 0;
	const struct rlimit limit = {.rlim_cur = 6, .rlim_max = RLIM_INFINITY};
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(file_append(folder.fd, "a", "one\n", 4, &size), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_lt(file_append(folder.fd, "a", "two\n", 4, &size), 0);
	cr_assert_eq(size, 4);
	load("a");
	cr_assert_str_eq(text, "one\n");
}
