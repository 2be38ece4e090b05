#include "shell/own_error.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(own_error, texts_of_ours_and_of_the_kernel)
{
	cr_expect_str_eq(error_text(-ERR_NO_INPUT), "it has no standard input");
	cr_expect_str_eq(error_text(-ENOSPC), "the disk is full");
	cr_expect_str_eq(error_text(-ENOENT), strerror(ENOENT));
	for (int error = OWN_ERROR_BASE + 1; error <= ERR_FILES_STUCK; error++)
		cr_expect_null(strstr(error_text(-error), "Unknown"), "%d", error);
}

Test(own_error, results_of_holders)
{
	cr_expect_eq(error_of_holder(0), 0);
	cr_expect_eq(error_of_holder(-ENOTCONN), -ERR_NOT_RUNNING);
	cr_expect_eq(error_of_holder(-EAGAIN), -ERR_UNRESPONSIVE);
	cr_expect_eq(error_of_holder(-ENOBUFS), -ENOBUFS);
}
