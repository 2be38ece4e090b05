/*
 * Atomic replacement of a file: it has the old content or the new one at any time, and the new content is on
 * the disk when replace_commit() returns. Symbolic links are followed. A file that is not regular, or that no
 * file can be put beside (a directory without write permission, a mount point), is written in place; a regular
 * file is first collected in an unnamed file, if possible. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

/* The condition that replace_commit() checks. */
enum replace_condition {
	REPLACE_ANY,  /* none */
	REPLACE_NEW,  /* the target does not exist */
	REPLACE_SAME, /* the target has not changed since replace_open() */
};

/* A replacement in progress. */
struct replace {
	struct place_entry entry;
	int fd;                   /* of the new content */
	int target_fd;            /* fd is copied to it in the end; -1: not needed */
	struct stat old;          /* of the target, if it existed */
	bool existed, in_place;   /* in_place: the target itself is written */
	char temporary[NAME_MAX]; /* name of the new file until the commit; "": unnamed */
	enum replace_condition only;
};

/* How to replace. */
struct replace_options {
	bool parents;                /* make missing directories */
	enum replace_condition only; /* ignored for files that are not regular */
};

/*
 * Begin. Returns 0 with *ret for replace_commit() or replace_abort(), -EISDIR, -EACCES (also for a read-only
 * file), -ENXIO (a FIFO without a reader) or another negative errno.
 */
int replace_open(const struct place *p, const char *path, const struct replace_options *options,
	struct replace *ret);

/* Append bytes. Returns 0 or a negative errno; -EAGAIN: the FIFO is full. */
int replace_write(struct replace *r, const void *bytes, size_t length);

/* Write at an offset of a regular file; not to be mixed with replace_write(). Returns 0 or a negative errno. */
int replace_write_at(struct replace *r, uint64_t offset, const void *bytes, size_t length);

/*
 * Sync the new content and put it in place. Returns 0, -EEXIST or -ERR_CHANGED if the condition does not hold, or
 * another negative errno; on error the old content remains unless it was written in place.
 */
int replace_commit(struct replace *r);

/* Whether both are the same file with the same size and mtime. */
bool replace_is_same(const struct stat *a, const struct stat *b);

/* Discard the new content; what was written in place remains. */
void replace_abort(struct replace *r);
