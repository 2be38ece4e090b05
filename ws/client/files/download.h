/* Receives a file of a session piece by piece. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/files/place.h"

/* The caller sets cli, take and user, and zeroes the rest. */
struct download {
	struct cli *cli;
	/* Gets the next bytes. Returns 0, or the exit status, which stops the download. */
	int (*take)(void *user, const void *bytes, size_t length);
	void *user;

	struct client_call *call;
	struct answer answer; /* if it is not a file */
	uint64_t size;        /* bytes passed to take() */
	bool good;            /* the status is 200 */
	bool over;            /* further bytes are ignored */
	int status;           /* of download_stop() */
	int error;            /* 0 or a negative errno */
};

/*
 * Run the loop until the file has been received. Returns 0 or the exit status; errors are reported.
 */
int download_file(struct download *d, const struct place *from);

/* Stop the download early, with an exit status other than 0. */
void download_stop(struct download *d, int status);
