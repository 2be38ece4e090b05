/* ASAN is defined if AddressSanitizer is on, with gcc and clang. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
