/* Trees of files, copied and removed. For threads (shell/files/crew.h). */
#pragma once

#define COPY_DEPTH_MAX 128u /* directories below each other: each takes two descriptors */

/*
 * Copy what an entry is to another that is not there: files, directories with all that is in them, links, FIFOs and
 * devices; owner, mode and times with it, as far as that is allowed. Returns 0, -ELOOP (too deep) or another negative errno;
 * then a part may be there.
 */
int copy_tree(int from_fd, const char *from, int to_fd, const char *to);

/* Remove an entry with all that is in it; links are not followed. Returns 0 or a negative errno. */
int copy_remove_tree(int dir_fd, const char *name);
