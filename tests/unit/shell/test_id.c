/* Ids: their form, that they differ, and that a failing random source is reported. */
#include "shell/id.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

Test(id_digits, are_digits_of_their_base)
{
	char text[65];
	cr_assert_eq(id_digits(text, 64, 36), 0);
	cr_expect_eq(strlen(text), 64);
	cr_expect_eq(strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"), 64);
	cr_assert_eq(id_digits(text, 64, 2), 0);
	cr_expect_eq(strspn(text, "01"), 64);
	cr_assert_eq(id_digits(text, 0, 16), 0);
	cr_expect_str_eq(text, "");
}

Test(id_hex, fills_the_text_and_differs)
{
	char one[33], other[33];
	cr_assert_eq(id_hex(one, sizeof one), 0);
	cr_assert_eq(id_hex(other, sizeof other), 0);
	cr_expect_eq(strlen(one), 32);
	cr_expect_eq(strspn(one, "0123456789abcdef"), 32);
	cr_expect_str_neq(one, other);
}

Test(id_stamped, has_the_prefix_and_the_time)
{
	char id[ID_STAMPED_SIZE];
	cr_assert_eq(id_stamped(id, "session", 1700000000123, 12, 16), 0);
	cr_expect_eq(strncmp(id, "session_1700000000123_", 22), 0);
	cr_expect_eq(strlen(id), 22 + 12);
	cr_assert_eq(id_stamped(id, "sixteen_letters_", UINT64_MAX, 12, 16), 0);
}

Test(id_random, long_requests_are_filled_in_parts)
{
	unsigned char bytes[1000] = {0};
	size_t zeros = 0;
	cr_assert_eq(id_random(bytes, sizeof bytes), 0);
	for (size_t i = 744; i < sizeof bytes; i++)
		zeros += bytes[i] == 0;
	cr_expect_lt(zeros, 100);
}

/* From here on the kernel has no random bytes, for this test's process only. */
static void refuse_random(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(id_random, failure_is_reported)
{
	char text[ID_STAMPED_SIZE] = "before";
	unsigned char byte;
	refuse_random();
	cr_expect_eq(id_random(&byte, 1), -EAGAIN);
	cr_expect_eq(id_hex(text, 33), -EAGAIN);
	cr_expect_str_eq(text, "");
	cr_expect_eq(id_stamped(text, "session", 1, 12, 16), -EAGAIN);
	cr_expect_str_eq(text, "");
}
