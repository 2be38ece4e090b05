/*
 * Sends a directory as a tar archive (shell/files/pack.h). A thread works only while it makes the next piece. Files
 * that cannot be read are left out; the download then fails at its end, unless options.partial is set, so that the
 * client notices.
 */
#pragma once

#include "ws/request.h"

#include <stdbool.h>

struct crew;
struct pack;
struct tar_stream;

/* How an archive is sent. */
struct tar_stream_options {
	struct crew *crew;  /* borrowed */
	const char *owner;  /* owner of the job, see shell/files/crew.h; borrowed for the call */
	const char *type;   /* Content-Type: a literal */
	const char *module; /* of log lines: a literal */
	bool partial;       /* succeed even if files were left out */
	/* Called once, when the stream has been freed; possibly from inside tar_stream_reply(). */
	void (*ended)(void *user);
	void *user;
};

/*
 * Answer r; headers may be set by reply_header() before. Takes pack, also on error. Returns 0 with *ret, valid until
 * ended() and set before it, or -ENOMEM without an answer.
 */
int tar_stream_reply(struct request *r, struct pack *pack, const struct tar_stream_options *options,
	struct tar_stream **ret);

/* Make the download fail. */
void tar_stream_stop(struct tar_stream *t);
