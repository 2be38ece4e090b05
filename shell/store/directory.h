/*
 * Directories of sessions and processes: one for each, below a common parent. The holder keeps the
 * directory locked as long as it lives or is being started. A process that can lock it may remove
 * it.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>

#define DIRECTORY_NAME_SIZE (NAME_ID_MAX + 32u)

/*
 * Subdirectory with everything that the session's own processes read. A sandbox contains only this
 * part of the directory. Its files belong to the sessions' user (`--session-user`).
 */
#define DIRECTORY_SHELL "shell"

/*
 * Create a directory named id and a random number, with DIRECTORY_SHELL in it. *ret_fd: owned by
 * the caller; has the lock, which the holder inherits. Returns 0 or a negative errno.
 */
int directory_create(int parent_fd, const char *id, char ret_name[DIRECTORY_NAME_SIZE], int *ret_fd);

/* Check that path is an absolute directory that can be entered. Returns 0 or a negative errno. */
int directory_check(const char *path);

/*
 * Result of an earlier directory_check() on a thread, because the disk may not answer. Zero: none.
 */
struct directory_found {
	bool looked;
	int error; /* what directory_check() returned */
};

/* Return the earlier result if there is one; otherwise call directory_check(). */
int directory_check_cached(const struct directory_found *found, const char *path);

/* Callbacks for the directories that an earlier server has left. name: of a directory. */
struct directory_owner {
	bool (*is_known)(void *user, const char *name);
	/* Attach to its holder; borrows fd. -ECONNREFUSED or -ENOENT: none, -EAGAIN: try later. */
	int (*adopt)(void *user, const char *name, int fd);
	void (*remove)(void *user, const char *name);
	void (*failed)(void *user, const char *name, int error);
	void *user;
};

/*
 * Adopt all directories that are not known yet and remove those without a holder. Returns how many
 * were adopted, or a negative errno. *ret_again: some holders are still starting, call it again.
 */
int directory_adopt_all(int parent_fd, const struct directory_owner *owner, bool *ret_again);
