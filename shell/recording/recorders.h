/*
 * Recorders: every session of a table is recorded, into one directory that is kept within limits. What is in there stays when
 * a session is deleted.
 */
#pragma once

#include "shell/recording/retention.h"
#include "shell/session/sessions.h"

#include <stdint.h>
#include <uv.h>

#define RECORDERS_TICK_MS 1000u
#define RECORDERS_ENFORCE_MS 60000u /* and when something has been sealed */

struct recorders;

struct recorders_options {
	uv_loop_t *loop;
	struct sessions *sessions; /* borrowed */
	int root_fd;               /* the directory; taken */
	struct retention limits;
	/* Something went wrong that nobody waits for; id may be "". Said once until it goes again. */
	void (*failed)(void *user, const char *id, const char *what, int error);
	void *user;
};

/*
 * Open the directory of recordings, which is made (0700) if it is not there: one of this user, that nobody else may use. Returns it,
 * or a negative errno (-EPERM: it is somebody else's, or open to others).
 */
int recorders_open_directory(const char *path);

/* Returns 0 or a negative errno. */
int recorders_open(const struct recorders_options *options, struct recorders **ret_recorders);

/* Sessions have come: those that are not recorded yet are from now on. NULL is fine. */
void recorders_sync(struct recorders *r);

/* Stop, before the sessions are closed: the next server goes on. The memory goes once the loop has turned. NULL is fine. */
void recorders_close(struct recorders *r);
