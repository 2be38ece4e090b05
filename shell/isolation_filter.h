/* Which system calls programs in an isolated session may not use: those that reach into the kernel rather than into files. */
#pragma once

/*
 * Make the filter as bwrap's --seccomp takes it: struct sock_filter after struct sock_filter (seccomp(2)), in a sealed file.
 * Returns its descriptor, the caller's, or a negative errno.
 */
int isolation_filter_make(void);
