/*
 * A directory that is sent as a tar archive (shell/files/pack.h), as fast as it is taken: a thread is at work only while a piece is
 * made. What could not be read is left out, and then the answer does not end as it should, so that who takes it does not believe to
 * have all of it; unless that has been asked for.
 */
#pragma once

#include "ws/request.h"

#include <stdbool.h>

struct crew;
struct pack;
struct tar_stream;

struct tar_stream_options {
	struct crew *crew;  /* borrowed */
	const char *whose;  /* on whose behalf, see there; borrowed for the call */
	const char *type;   /* a literal */
	const char *module; /* a literal: who says in the log what has been left out */
	bool partial;       /* what could not be read does not matter */
	void (*ended)(
		void *user); /* once: nothing of it is left. It may come from inside tar_stream_reply() */
	void *user;
};

/*
 * Answer r, which reply_header() has prepared. pack: taken, also where that fails. Returns 0 with *ret to be given to tar_stream_stop()
 * until it has ended (it is set before that), or -ENOMEM, and nothing has been answered.
 */
int tar_stream_reply(struct request *r, struct pack *pack, const struct tar_stream_options *options,
	struct tar_stream **ret);

/* No more comes: the answer ends as one that has failed. */
void tar_stream_stop(struct tar_stream *t);
