/*
 * Who looks for leaks: the tests, each in a process of its own, not the runner, of which Criterion itself now and
 * then loses 48 bytes. LeakSanitizer asks when a process ends (see lsan_interface.h).
 */
#include <stdlib.h>

int __lsan_is_turned_off(void); // NOLINT(bugprone-reserved-identifier): the name is LeakSanitizer's

int __lsan_is_turned_off(void) // NOLINT(bugprone-reserved-identifier)
{
	return getenv("BXFI_MAP") == NULL; /* BoxFort has set it in the processes of the tests */
}
