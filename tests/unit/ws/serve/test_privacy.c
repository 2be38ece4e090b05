#include "ws/serve/privacy.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

Test(privacy_remove_variable, wipes_every_variable_of_the_name)
{
	char first[] = "SECRET=one", other[] = "SECRETS=kept", second[] = "SECRET=two",
	     bare[] = "SECRET";
	char *environment[] = {first, other, second, bare, NULL};
	char *removed = privacy_remove_variable(environment, "SECRET");
	cr_assert_str_eq(removed, "one");
	for (size_t i = 0; i < sizeof first; i++)
		cr_assert(first[i] == '\0' && second[i] == '\0');
	cr_assert_str_eq(environment[0], "SECRETS=kept");
	cr_assert_str_eq(environment[1], "SECRET");
	cr_assert_null(environment[2]);
	privacy_wipe(removed);
}

Test(privacy_remove_variable, missing_variable)
{
	char other[] = "A=b";
	char *environment[] = {other, NULL};
	cr_assert_null(privacy_remove_variable(environment, "SECRET"));
	cr_assert_eq(environment[0], other);
	privacy_wipe(NULL);
}

Test(privacy_begin, process_can_be_neither_traced_nor_dumped)
{
	struct rlimit core, before;
	cr_assert_eq(getrlimit(RLIMIT_CORE, &before), 0);
	before.rlim_cur = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_CORE, &before), 0);
	privacy_begin();
	cr_assert_eq(prctl(PR_GET_DUMPABLE), 0);
	cr_assert_eq(getrlimit(RLIMIT_CORE, &core), 0);
	cr_assert_eq(core.rlim_cur, 0);
	cr_assert_eq(core.rlim_max, before.rlim_max, "the hard limit is unchanged");
}
