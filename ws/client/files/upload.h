/* Sends a local file as it is read. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/files/place.h"

/* The file. */
struct upload_source {
	int fd;           /* read to its end; borrowed */
	const char *name; /* for error messages */
	bool parents;     /* let the server make missing directories */
};

/*
 * Run the loop until the server has the file. Returns 0 with its answer, or the exit status; errors
 * are reported, and the server keeps its old file then.
 */
int upload_file(struct cli *cli, const struct upload_source *from, const struct place *to,
	struct answer *ret_answer);
