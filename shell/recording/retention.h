/* Limits of a directory of recordings. Blocking I/O: not for the loop. */
#pragma once

#include <stdint.h>

/* The limits. */
struct retention {
	uint64_t bytes; /* all files together; 0: no limit */
	uint64_t age_s; /* of a segment, since its last write; 0: no limit */
};

#define RETENTION_FILES_MAX 131072u /* files that are examined at once */
/* An open segment that was not written for this time has no writer: see TAPE_SEGMENT_US. */
#define RETENTION_ORPHAN_S 7200u

/*
 * Remove segments that are too old, then the oldest ones until the size is below the limit; open segments with
 * a writer stay. Returns 0, or the first error as a negative errno; the other segments are handled
 * nevertheless.
 */
int retention_enforce(int root_fd, const struct retention *limits, uint64_t now_s);
