/* Renaming, as mv(1) does. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

/*
 * Rename `from` to `to`, or move it into `to` if that is a directory; an existing file is replaced. To another
 * file system, the entry is copied with owner, mode and times; the source is removed once the copy is on the
 * disk. The target is replaced in one step. Returns 0, -ENOENT, -EEXIST (both are the same file), -ELOOP (too
 * deep to copy) or another negative errno. *ret_source_missing: `from` does not exist.
 */
int move_entry(const struct place *p, const char *from, const char *to, bool *ret_source_missing);
