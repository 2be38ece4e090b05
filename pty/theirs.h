/*
 * What other processes have open, seen without asking the file system that it is in: that may be one of theirs (FUSE), and
 * never answer.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Whether descriptor fd of process pid is this directory or file: 1, 0, or a negative errno. */
int theirs_is(pid_t pid, int fd, const struct stat *file);

/*
 * Open the memfd that process pid has as its descriptor fd: as open(2) with these flags and those that never wait.
 * Returns it, -EPROTO when it is none, or another negative errno.
 */
int theirs_open_memory(pid_t pid, int fd, int flags);
