/* Entries of directories: made and removed. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

/*
 * Remove what is no directory. Returns 0, -EISDIR for a directory or a link to one, -ENOENT when there is nothing (also
 * for a link to nowhere), or another negative errno.
 */
int entry_remove(const struct place *p, const char *path);

/*
 * Make a directory; parents: and those above it, and one that is there is as good. Returns 0, -EEXIST or another negative
 * errno.
 */
int entry_make_directory(const struct place *p, const char *path, bool parents);

/*
 * See to it that the names in a directory are on the disk, as far as it may be read and knows how. Returns 0 or a negative
 * errno.
 */
int entry_sync(int dir_fd);
