/* Listing directories. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

#define LISTING_MAX 100000u    /* entries */
#define LISTING_DEPTH_MAX 128u /* nested directories: each takes a descriptor */

/* What to list. */
struct listing_options {
	bool recursive; /* depth first, a directory before its content; links are not followed */
	bool hidden; /* include names with a leading dot; hidden directories are entered anyway */
};

/* One entry. */
struct listing_entry {
	const char *name, *relative; /* relative: to the listed directory */
	const struct stat *st;       /* of the link itself, for links */
};

/* About the whole listing. */
struct listing_result {
	char directory[PLACE_PATH_MAX]; /* absolute, as its shell would name it */
	bool cut; /* incomplete: LISTING_MAX, LISTING_DEPTH_MAX, or unreadable entries */
};

/*
 * Call entry() for each entry of a directory, in the order of readdir(3), until it returns false. The path may
 * be a link. Returns 0, -ENOTDIR or another negative errno; *ret is valid for what was listed until then.
 */
int listing_walk(const struct place *p, const char *path, const struct listing_options *options,
	bool (*entry)(void *user, const struct listing_entry *e), void *user,
	struct listing_result *ret);
