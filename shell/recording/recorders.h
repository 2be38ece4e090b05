/* Records all sessions of a table into one directory, within limits. Recordings remain when a session is deleted. */
#pragma once

#include "shell/recording/retention.h"
#include "shell/session/sessions.h"

#include <stdint.h>
#include <uv.h>

#define RECORDERS_TICK_MS 1000u
#define RECORDERS_ENFORCE_MS 60000u /* and whenever a segment was sealed */

struct recorders;

/* Options. */
struct recorders_options {
	uv_loop_t *loop;
	struct sessions *sessions; /* borrowed */
	int root_fd;               /* the directory; owned by the recorders */
	struct retention limits;
	/* Reports an error, once until it is over. id: of the session, or "". */
	void (*failed)(void *user, const char *id, const char *what, int error);
	void *user;
};

/*
 * Open the directory of recordings, and create it (0700) if it is missing. Returns a descriptor, or a negative
 * errno; -EPERM: it belongs to another user, or its mode allows access to other users.
 */
int recorders_open_directory(const char *path);

/* Start recording; recorders_sync() finds the sessions. Returns 0 or a negative errno. */
int recorders_open(const struct recorders_options *options, struct recorders **ret_recorders);

/* Start to record the sessions of the table that are not recorded yet. NULL is fine. */
void recorders_sync(struct recorders *r);

/* Stop, before the sessions are closed; the next server continues. The memory is freed on the loop. NULL is fine. */
void recorders_close(struct recorders *r);
