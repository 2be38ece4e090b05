/*
 * The absolute path of a name, as the session's shell reads it: a relative name starts at the shell's working
 * directory, `~/` at its HOME. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/place.h"

/*
 * Write the absolute path of a name in an entered place. Parts such as ".." stay. Nothing is looked up, so the path
 * need not exist. HOME is read at most once for each place, from the first 256 KiB of the shell's environment.
 * Returns 0, -ENOENT if the directory that the name starts at is unknown, -ENAMETOOLONG, -ENOMEM, or another negative
 * errno of reading /proc.
 */
int absolute_path(struct place *p, const char *name, char ret_path[PLACE_PATH_MAX]);
