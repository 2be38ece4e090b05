/* What is in a directory, and below it. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

#define LISTING_MAX 100000u    /* entries */
#define LISTING_DEPTH_MAX 128u /* directories below each other: each takes a descriptor */

struct listing_options {
	bool recursive; /* depth first, a directory before what is in it; links are not followed */
	bool hidden; /* also what begins with a dot; what is below such a directory is listed in any case */
};

struct listing_entry {
	const char *name, *relative; /* relative: to the directory that was asked for */
	const struct stat *st;       /* of itself, if it is a link */
};

struct listing_result {
	char directory[PLACE_PATH_MAX]; /* absolute, as its shell would name it */
	bool cut; /* there is more than LISTING_MAX, below LISTING_DEPTH_MAX, or what may not be looked at */
};

/*
 * Tell each entry, in the directory's own order. The directory may be reached by a link. entry: returns whether to go on.
 * Returns 0, -ENOTDIR or another negative errno; *ret is what could be told until then.
 */
int listing_walk(const struct place *p, const char *path, const struct listing_options *options,
	bool (*entry)(void *user, const struct listing_entry *e), void *user,
	struct listing_result *ret);
