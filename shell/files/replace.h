/*
 * A file that is written whole: it has the old content or the new one, whatever happens in between, and the disk has it
 * once it is said to be done. A symbolic link is followed; its target is replaced. What is no regular file, and what lies where nothing can be
 * put beside it (another's directory, a mount point), is written in place: a regular file once all of it is there, in a file
 * without a name, if there can be one. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

/* What may be replaced at the end. */
enum replace_only {
	REPLACE_ANY,
	REPLACE_NEW,  /* nothing: it must not be there */
	REPLACE_SAME, /* what was there at the beginning */
};

struct replace {
	struct place_entry entry;
	int fd;
	int target_fd;            /* what fd is to be copied to in the end; -1: nothing, fd is it */
	struct stat old;          /* of what is replaced */
	bool existed, in_place;   /* there was something; it is that which is written */
	char temporary[NAME_MAX]; /* the new one's name meanwhile; "": it has none */
	enum replace_only only;
};

struct replace_options {
	bool parents;           /* make the directories that are missing */
	enum replace_only only; /* not checked for what is no regular file */
};

/*
 * Begin. Returns 0 with *ret to be given to replace_commit() or replace_abort(), -EISDIR, -EACCES (also of a file that may
 * not be written), -ENXIO (a FIFO that nobody reads) or another negative errno.
 */
int replace_open(const struct place *p, const char *path, const struct replace_options *options,
	struct replace *ret);

/* Add bytes. Returns 0 or a negative errno; -EAGAIN: a FIFO that is full. */
int replace_write(struct replace *r, const void *bytes, size_t length);

/* The same at an offset, of a regular file: not mixed with replace_write(). */
int replace_write_at(struct replace *r, uint64_t offset, const void *bytes, size_t length);

/*
 * Put it in place. Returns 0, -EEXIST or -ESTALE where it is not what may be replaced, or another negative errno; then what was
 * there is there still, unless that was written itself.
 */
int replace_commit(struct replace *r);

/* Whether both are one file, with one content. */
bool replace_is_same(const struct stat *a, const struct stat *b);

/* Leave what was there; what has been written in place remains. */
void replace_abort(struct replace *r);
