/*
 * A nest: a temporary directory beside its target. Its owner holds a flock(2) on it, which the kernel drops
 * when the process dies: an unlocked nest is a leftover, which the next nest for the same target removes. For
 * threads (shell/files/crew.h).
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

/* A nest that this process owns. */
struct nest {
	char name[NAME_MAX + 1];
	int fd;      /* of the directory, holds the lock; the caller closes it */
	mode_t mode; /* what mkdir(2) gave it; the nest itself is 0700 */
};

/*
 * Make a nest in dir_fd for the name target, which need not exist. suffix: its purpose. Returns 0 or a negative
 * errno. Remove it with copy_remove_tree().
 */
int nest_make(int dir_fd, const char *target, const char *suffix, struct nest *ret);
