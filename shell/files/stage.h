/*
 * A stage: a directory of its own beside or in the one that it is for, where a tree is put together before anybody sees it. Whatever
 * goes wrong until then leaves what was there. What a killed server has left of one goes with the next stage for the same
 * directory (nest.h). For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/place.h"

#include <stdbool.h>
#include <stddef.h>

#define STAGE_NAME_MAX 256u /* bytes of a name that is told, with the NUL */

struct stage_options {
	bool parents; /* make the directories that are missing */
	bool replace; /* what is there goes, as a whole; otherwise what is new is merged into it */
};

struct stage {
	struct place place; /* entered: the stage itself, where no name and no link leads out */
	/* Where it is, and what it is called there. */
	struct place_entry entry;
	int target_fd;             /* of the directory that it is for, -1: there is none yet */
	char target[NAME_MAX + 1]; /* that one's name beside the stage; "": the stage is in it */
	int old_fd;  /* of what has been replaced, which has the name of the stage now; -1 */
	mode_t mode; /* of a directory that is made here */
	bool replace, created; /* created: the directory has not been there */
	bool gone;             /* there is no stage any more */
};

/*
 * Make one for the directory at a path; its links are followed, but for the last name where it is to be replaced. Returns 0 with
 * *ret to be given to stage_commit() or stage_abort(), -ENOTDIR, -EBUSY (a mount point, or "." is to be replaced), or another
 * negative errno.
 */
int stage_open(const struct place *p, const char *path, const struct stage_options *options,
	struct stage *ret);

/*
 * All of it is there: put it in place. Where the directory is new, or replaced, that is one change. A merge is one for each file,
 * after it has been looked whether all of them can be had: -EISDIR (a directory has the name of a file), -ENOTDIR (the other way
 * round), -EXDEV (another file system begins there) and -EACCES mean that nothing has changed, and ret_name is of which. *ret_fd: the
 * directory, to be closed. Returns 0 or a negative errno. stage_abort() follows in any case.
 */
int stage_commit(struct stage *s, int *ret_fd, char ret_name[STAGE_NAME_MAX]);

/* Remove the stage with what is left in it. */
void stage_abort(struct stage *s);
