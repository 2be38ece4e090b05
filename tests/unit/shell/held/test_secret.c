/* What holders are known by, and which are known by nothing. */
#include "shell/held/secret.h"

#include "tests/lib/folder.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct folder folder;
static struct secret secret;

static void set_up(void)
{
	folder_make(&folder);
}

static void tear_down(void)
{
	secret_close(&secret);
	folder_remove(&folder);
}

TestSuite(secret, .init = set_up, .fini = tear_down, .timeout = 20);

static bool has_key(const char *place, struct proof_key *ret_key)
{
	return secret_key(&secret, "sessions", place, ret_key);
}

static void make_directory(const char *path)
{
	cr_assert_eq(mkdirat(folder.fd, path, 0700), 0);
}

static void open_again(void)
{
	secret_close(&secret);
	cr_assert_eq(secret_open(&secret, folder.fd), 0);
}

Test(secret, is_made_once_and_is_ours_alone)
{
	struct stat st;
	struct proof_key first, second;
	cr_assert_eq(secret_open(&secret, folder.fd), 0);
	cr_assert_eq(fstatat(folder.fd, SECRET_FILE, &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_assert(has_key("a+1", &first));
	open_again();
	cr_assert(has_key("a+1", &second));
	cr_expect_arr_eq(&first, &second, sizeof first);
	cr_assert(has_key("a+2", &second));
	cr_expect_neq(memcmp(&first, &second, sizeof first), 0);
	cr_assert(secret_key(&secret, "processes", "a+1", &second));
	cr_expect_neq(memcmp(&first, &second, sizeof first), 0);
}

Test(secret, two_runtime_directories_have_two)
{
	struct proof_key first, second;
	cr_assert_eq(secret_open(&secret, folder.fd), 0);
	cr_assert(has_key("a+1", &first));
	cr_assert_eq(unlinkat(folder.fd, SECRET_FILE, 0), 0);
	open_again();
	cr_assert(has_key("a+1", &second));
	cr_expect_neq(memcmp(&first, &second, sizeof first), 0);
}

Test(secret, what_was_there_before_it_has_no_key_while_it_is_there)
{
	struct proof_key key;
	make_directory("sessions");
	make_directory("sessions/old+1");
	make_directory("processes");
	make_directory("processes/old+2");
	cr_assert_eq(secret_open(&secret, folder.fd), 0);
	make_directory("sessions/new+3");
	for (unsigned i = 0; i < 2; i++) {
		cr_expect_not(has_key("old+1", &key));
		cr_expect_not(secret_key(&secret, "processes", "old+2", &key));
		cr_expect(has_key("old+2", &key));
		cr_expect(has_key("new+3", &key));
		open_again();
	}
	cr_assert_eq(unlinkat(folder.fd, "sessions/old+1", AT_REMOVEDIR), 0);
	open_again();
	make_directory("sessions/old+1");
	open_again();
	cr_expect(has_key("old+1", &key), "nobody comes in its name");
	cr_expect_not(secret_key(&secret, "processes", "old+2", &key));
	secret_close(&secret);
	ASSERT_NO_LEAKS();
}

Test(secret, without_one_nobody_has_a_key)
{
	struct proof_key key;
	cr_expect_not(has_key("a+1", &key));
	cr_expect_not(secret_key(NULL, "sessions", "a+1", &key));
}

Test(secret, one_that_is_damaged_is_not_made_anew)
{
	static const char *const texts[] = {"", "\n", "0123456789abcdef\n",
		"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		folder_put(&folder, SECRET_FILE, texts[i]);
		cr_assert_eq(fchmodat(folder.fd, SECRET_FILE, 0600, 0), 0);
		cr_expect_eq(secret_open(&secret, folder.fd), -EBADMSG, "%s", texts[i]);
	}
}

Test(secret, one_that_others_can_read_or_that_is_no_file_is_refused)
{
	cr_assert_eq(secret_open(&secret, folder.fd), 0);
	secret_close(&secret);
	cr_assert_eq(fchmodat(folder.fd, SECRET_FILE, 0640, 0), 0);
	cr_expect_eq(secret_open(&secret, folder.fd), -EACCES);
	cr_assert_eq(renameat(folder.fd, SECRET_FILE, folder.fd, "elsewhere"), 0);
	cr_assert_eq(fchmodat(folder.fd, "elsewhere", 0600, 0), 0);
	cr_assert_eq(symlinkat("elsewhere", folder.fd, SECRET_FILE), 0);
	cr_expect_eq(secret_open(&secret, folder.fd), -EACCES);
	cr_assert_eq(unlinkat(folder.fd, SECRET_FILE, 0), 0);
	cr_assert_eq(mkfifoat(folder.fd, SECRET_FILE, 0600), 0);
	cr_expect_eq(secret_open(&secret, folder.fd), -EACCES);
}
