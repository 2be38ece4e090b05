/*
 * Directories of what has a holder, sessions and processes: one of its own for each, below a common one. Its lock
 * is held as long as the holder lives, or is being started; whoever can take it may clear up there.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>

#define DIRECTORY_NAME_SIZE (NAME_ID_MAX + 32u)

/*
 * Below each of them: all that its own processes read. Nothing else of it is in their sandbox, and what is in there is their
 * user's, should that be another one.
 */
#define DIRECTORY_SHELL "shell"

/*
 * Make one for id, with DIRECTORY_SHELL in it; its name is that and a random number. *ret_fd is the caller's, and holds the lock, which the
 * holder inherits. Returns 0, or a negative errno and nothing is left.
 */
int directory_make(int parent_fd, const char *id, char ret_name[DIRECTORY_NAME_SIZE], int *ret_fd);

/* Whether path (may be NULL) is absolute and a directory that can be entered: 0, or a negative errno. */
int directory_check(const char *path);

/* What has been found out of a directory before, on a thread: its disk may not answer. Zero: nothing has been. */
struct directory_found {
	bool looked;
	int error; /* what directory_check() returned then */
};

/* The same as directory_check(), which is asked only where nothing has been found out. */
int directory_recall(const struct directory_found *found, const char *path);

/* Those whose directories an earlier server has left. name: that of a directory. */
struct directory_owner {
	bool (*is_known)(void *user, const char *name);
	/* Attach to its holder; fd is borrowed. Returns -ECONNREFUSED or -ENOENT when there is none, -EAGAIN for later. */
	int (*adopt)(void *user, const char *name, int fd);
	void (*remove)(void *user, const char *name);
	void (*failed)(void *user, const char *name, int error);
	void *user;
};

/*
 * Adopt what is there and not known, and remove directories without a holder. Returns how many were found, or a
 * negative errno; *ret_again says that holders are still starting.
 */
int directory_adopt_all(int parent_fd, const struct directory_owner *owner, bool *ret_again);
