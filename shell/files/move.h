/* Renaming, as mv(1) does it without asking. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

/*
 * Give `from` the name `to`, or move it into that if it is a directory; a file there is replaced. To another file system it
 * is copied, with owner, mode and times, and removed once the copy is on the disk: what is there until that is whole is the old one.
 * Returns 0,
 * -ENOENT, -EEXIST (both are the same), -ELOOP (the tree is too deep to be copied) or another negative errno.
 * *ret_source_missing: it is `from` that is not there.
 */
int move_entry(const struct place *p, const char *from, const char *to, bool *ret_source_missing);
