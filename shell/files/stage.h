/*
 * A stage: a temporary directory (a nest) in which a tree is built before it is put in place. Until then the
 * target directory is unchanged. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/place.h"

#include <stdbool.h>
#include <stddef.h>

#define STAGE_NAME_MAX 256u /* bytes of a reported name, with its NUL */

/* How to put the tree in place. */
struct stage_options {
	bool parents; /* make missing directories */
	bool replace; /* replace the whole directory; otherwise merge into it */
};

/* A stage in progress. */
struct stage {
	struct place place;        /* entered: the stage; names and links cannot lead out */
	struct place_entry entry;  /* of the stage */
	int target_fd;             /* of the target directory; -1: it does not exist yet */
	char target[NAME_MAX + 1]; /* the target's name beside the stage; "": the stage is in it */
	int old_fd;                /* of a replaced directory, which has the stage's name now; -1 */
	mode_t mode;               /* of a new directory */
	bool replace, created;     /* created: the target did not exist */
	bool gone;                 /* the stage no longer exists */
};

/*
 * Make a stage for the directory at a path. Links are followed, except the last name if it is to be replaced.
 * Returns 0 with *ret for stage_commit() or stage_abort(), -ENOTDIR, -EBUSY (a mount point or "." cannot be
 * replaced), or another negative errno.
 */
int stage_open(const struct place *p, const char *path, const struct stage_options *options,
	struct stage *ret);

/*
 * Sync the tree and put it in place: atomically if the directory is new or replaced. A merge renames file by
 * file, after a check of all of them; if the check fails, nothing has changed and ret_name is the conflicting
 * name: -EISDIR (a directory has the name of a file), -ENOTDIR (the reverse), -EXDEV (another file system) or
 * -EACCES. *ret_fd: the target directory, owned by the caller. Returns 0 or a negative errno. Call
 * stage_abort() afterwards in any case.
 */
int stage_commit(struct stage *s, int *ret_fd, char ret_name[STAGE_NAME_MAX]);

/* Remove the stage with its content, and close all descriptors. */
void stage_abort(struct stage *s);
