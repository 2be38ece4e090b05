/*
 * Only the processes of the tests are checked for leaks. The runner is not: Criterion itself loses 48 bytes at
 * times. LeakSanitizer calls this when a process ends (see lsan_interface.h).
 */
#include <stdlib.h>

int __lsan_is_turned_off(void); // NOLINT(bugprone-reserved-identifier): the name is LeakSanitizer's

int __lsan_is_turned_off(void) // NOLINT(bugprone-reserved-identifier)
{
	return getenv("BXFI_MAP") == NULL; /* BoxFort sets it in the processes of the tests */
}
