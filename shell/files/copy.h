/* Copying and removing trees of files. For threads (shell/files/crew.h). */
#pragma once

#define COPY_DEPTH_MAX 128u /* nested directories: each takes two descriptors */

/*
 * Copy an entry to a name that does not exist: files, directories with their content, links, FIFOs and devices;
 * with owner, mode and times where permitted. Returns 0, -ELOOP (too deep) or another negative errno; a partial
 * copy may remain then.
 */
int copy_tree(int from_fd, const char *from, int to_fd, const char *to);

/* Remove an entry with all its content; links are not followed. Returns 0 or a negative errno. */
int copy_remove_tree(int dir_fd, const char *name);
