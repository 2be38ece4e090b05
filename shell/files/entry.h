/* Making and removing directory entries. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

/*
 * Remove an entry that is not a directory. Returns 0, -EISDIR for a directory or a link to one, -ENOENT if it
 * does not exist or is a dangling link, or another negative errno.
 */
int entry_remove(const struct place *p, const char *path);

/*
 * Make a directory. parents: make missing parents too, and accept an existing directory. Returns 0, -EEXIST or
 * another negative errno.
 */
int entry_make_directory(const struct place *p, const char *path, bool parents);

/* fsync() a directory, unless it is unreadable or its file system cannot. Returns 0 or a negative errno. */
int entry_sync(int dir_fd);
