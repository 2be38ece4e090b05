/* A file of a session, received as it comes, in the memory of one piece. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/files/place.h"

struct download {
	struct cli *cli;
	/* Its next bytes. Returns 0, or the status to end with. */
	int (*take)(void *user, const void *bytes, size_t length);
	void *user;
	/* The rest is its own: */
	struct client_call *call;
	struct answer answer; /* where it is no file */
	uint64_t size;        /* bytes that were taken */
	bool good, over;      /* the file comes; nothing more is taken */
	int status, error;
};

/* Turn the loop until all of it has been taken. Returns 0, or the status to end with; then it has been said why. */
int download_file(struct download *d, const struct place *from);

/* End it before, with a status that is not 0. */
void download_stop(struct download *d, int status);
