/*
 * A nest: a directory beside what it is for, in which that is put together. Who has one holds a lock on it, which goes with the process:
 * what has its name and no lock was left behind by a server that has been killed, and goes with the next nest for the same. For
 * threads (shell/files/crew.h).
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

struct nest {
	char name[NAME_MAX + 1];
	int fd;      /* of the directory, with the lock; whoever has the nest closes it */
	mode_t mode; /* that the directory would have, of which nobody else has anything now */
};

/*
 * Make one in a directory, for what is called target there, or will be. suffix: what it is for. Returns 0 or a negative errno.
 * copy_remove_tree() removes it.
 */
int nest_make(int dir_fd, const char *target, const char *suffix, struct nest *ret);
