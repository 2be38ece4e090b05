/* Leaks fail only the tests that check for them: Criterion ignores LeakSanitizer's exit status. */
#pragma once

#include <criterion/criterion.h>

#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECK 1
#endif
#endif

#ifdef LEAK_CHECK
#include <sanitizer/lsan_interface.h>
/* The last line of a test's body. */
#define ASSERT_NO_LEAKS() cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "memory was leaked")
#else
#define ASSERT_NO_LEAKS() ((void)0)
#endif
