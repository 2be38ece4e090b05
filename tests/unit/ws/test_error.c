#include "ws/error.h"

#include "shell/own_error.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(error_status, table)
{
	cr_expect_eq(error_status("VALIDATION_FAILED"), 400);
	cr_expect_eq(error_status("TOO_MANY_ATTEMPTS"), 429);
	cr_expect_eq(error_status("something else"), 500);
	cr_expect_eq(error_status(""), 500);
}

Test(error_code_of, every_code_has_a_status)
{
	for (int error = 0; error > -200; error--)
		cr_expect_geq(error_status(error_code_of(error)), 400);
	cr_expect_str_eq(error_code_of(-ENOSPC), "NO_SPACE");
	cr_expect_str_eq(error_code_of(-EMFILE), "TOO_MANY_FILES");
	cr_expect_str_eq(error_code_of(-ENFILE), "TOO_MANY_FILES");
	cr_expect_str_eq(error_code_of(-EDQUOT), "NO_SPACE");
	cr_expect_str_eq(error_code_of(-EAGAIN), "TOO_MANY_PROCESSES");
	cr_expect_str_eq(error_code_of(-ERR_NO_TERMINAL), "TOO_MANY_TERMINALS");
	cr_expect_str_eq(error_code_of(-ENOMEM), "OUT_OF_MEMORY");
	cr_expect_str_eq(error_code_of(-ECANCELED), "OPERATION_INTERRUPTED");
	cr_expect_str_eq(error_code_of(-EIO), "INTERNAL_ERROR");
}

Test(error_is_shortage, shortages_are_recognised)
{
	static const int shortages[] = {
		-ENOSPC, -EDQUOT, -EMFILE, -ENFILE, -EAGAIN, -ERR_NO_TERMINAL, -ENOMEM};
	static const int mistakes[] = {-EACCES, -ENOEXEC, -ELOOP, -ENAMETOOLONG, -E2BIG, -ETXTBSY,
		-ENOENT, -ENOTDIR, -EINVAL, -EIO, 0};
	for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++) {
		cr_expect(error_is_shortage(shortages[i]));
		cr_expect_str_neq(error_code_of(shortages[i]), "INTERNAL_ERROR");
		cr_expect_gt(strlen(error_text(shortages[i])), 0);
	}
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		cr_expect_not(error_is_shortage(mistakes[i]));
		cr_expect_str_eq(error_code_of(mistakes[i]), "INTERNAL_ERROR");
		cr_expect_str_eq(error_text(mistakes[i]), strerror(-mistakes[i]));
	}
}
