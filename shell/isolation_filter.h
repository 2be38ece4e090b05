/* The system call filter of sandboxes: refuses calls that reach into the kernel rather than into files. */
#pragma once

/*
 * Make the filter in the format of bwrap's --seccomp (an array of struct sock_filter, seccomp(2)) in a sealed memfd.
 * Returns its descriptor, owned by the caller, or a negative errno.
 */
int isolation_filter_make(void);
