/* A file of ours, sent as it is read, in the memory of one piece. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/files/place.h"

struct upload_source {
	int fd;           /* read to its end */
	const char *name; /* for complaints */
	bool parents;     /* directories that are missing are made */
};

/*
 * Turn the loop until the server has all of it. Returns 0 and what it says, or the status to end with; then it has been said
 * why, and the server has what it had.
 */
int upload_file(struct cli *cli, const struct upload_source *from, const struct place *to,
	struct answer *ret_answer);
