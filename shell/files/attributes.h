/*
 * Extended attributes of a file (xattr(7)): those of its users, and its access control lists (acl(5)). Those that the
 * kernel and its administrator have (security, trusted) are not touched: as after any write, a file has no capabilities. For
 * threads (shell/files/crew.h).
 */
#pragma once

/* Bytes of all names, and of each value: XATTR_LIST_MAX, XATTR_SIZE_MAX. */
#define ATTRIBUTES_MAX 65536u

/*
 * Give one file the attributes of another, and take away the lists that it has had from its directory. from_fd: may be of
 * O_PATH. to_fd: may not. Where a file system has none there is nothing to be done. Returns 0 or a negative errno.
 */
int attributes_copy(int from_fd, int to_fd);
