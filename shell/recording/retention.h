/* Retention: what a directory of recordings may take. Plain I/O that blocks: not for the loop. */
#pragma once

#include <stdint.h>

struct retention {
	uint64_t bytes; /* all files together; 0: no limit */
	uint64_t age_s; /* of a segment, since it was written last; 0: no limit */
};

#define RETENTION_FILES_MAX 131072u /* that are looked at, at once */
#define RETENTION_ORPHAN_S \
	7200u /* a segment that was not sealed for so long is nobody's: see TAPE_SEGMENT_US */

/*
 * Remove segments that are too old, then the oldest, until the rest is no larger than allowed; those that are being written
 * stay. Returns 0, or the negative errno of what could not be looked at or removed; the rest is done all the same.
 */
int retention_enforce(int root_fd, const struct retention *limits, uint64_t now_s);

/* Remove a recording. Returns 0, -ENOENT, or another negative errno. */
int retention_remove(int root_fd, const char *name);
