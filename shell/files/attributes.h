/* Extended attributes (xattr(7)) and access control lists (acl(5)) of files. For threads (shell/files/crew.h). */
#pragma once

/* Bytes of all names, and of each value: XATTR_LIST_MAX, XATTR_SIZE_MAX. */
#define ATTRIBUTES_MAX 65536u

/*
 * Copy user attributes and ACLs from one file to another, and remove the ACLs that the target inherited from
 * its directory. security.* and trusted.* are not copied: like any written file, the target has no
 * capabilities. from_fd: may be O_PATH; to_fd: may not. Does nothing on file systems without attributes.
 * Returns 0 or a negative errno.
 */
int attributes_copy(int from_fd, int to_fd);
