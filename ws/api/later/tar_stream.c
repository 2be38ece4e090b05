/* A tar archive as a download. A thread makes the next piece when the last one has been sent. */
#include "ws/api/later/tar_stream.h"

#include "shell/files/crew.h"
#include "shell/files/pack.h"
#include "shell/own_error.h"
#include "ws/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct tar_stream {
	struct job job;
	struct tar_stream_options options;
	struct request *request; /* our reference */
	struct pack *pack;
	const char *bytes; /* the current piece, borrowed from pack */
	size_t length;     /* 0: there is none */
	int error;
	bool working; /* a thread makes a piece */
	bool closed;  /* the transport has closed the download */
	bool over;    /* the archive is complete */
	bool stopped; /* by tar_stream_stop() */
};

static void on_close(struct job *job)
{
	struct tar_stream *t = (struct tar_stream *)job;
	pack_close(t->pack);
	t->pack = NULL;
}

static void on_close_done(struct job *job, int error)
{
	struct tar_stream *t = (struct tar_stream *)job;
	struct tar_stream_options options = t->options;
	if (error < 0)
		on_close(job);
	request_unref(t->request);
	free(t);
	options.ended(options.user);
}

/* Close the pack on a thread: close() may block on some file systems. */
static void destroy(struct tar_stream *t)
{
	t->job.work = on_close;
	t->job.done = on_close_done;
	crew_send_required(t->options.crew, &t->job);
}

static void on_work(struct job *job)
{
	struct tar_stream *t = (struct tar_stream *)job;
	t->error = pack_next(t->pack, &t->bytes, &t->length, &t->over);
}

static void on_done(struct job *job, int error)
{
	struct tar_stream *t = (struct tar_stream *)job;
	t->working = false;
	if (error < 0)
		t->error = error;
	if (t->closed)
		destroy(t);
	else
		download_more(t->request);
}

static void log_losses(const struct tar_stream *t)
{
	const struct pack_losses *l = pack_losses(t->pack);
	char count[16];
	if (l->count == 0)
		return;
	snprintf(count, sizeof count, "%u", l->count);
	log_write(LOG_WARN, t->options.module, "left out of an archive", "count", count, "first",
		l->name, "error",
		l->error == -ERR_CHANGED ? "its size has changed while it was read"
					 : error_text(l->error),
		NULL);
}

static enum download_state end(const struct tar_stream *t)
{
	log_losses(t);
	return pack_losses(t->pack)->count == 0 || t->options.partial ? DOWNLOAD_END
								      : DOWNLOAD_FAILED;
}

static enum download_state next(void *user, const char **ret_bytes, size_t *ret_length)
{
	struct tar_stream *t = user;
	if (t->working)
		return DOWNLOAD_WAIT;
	if (t->error < 0 || t->stopped)
		return DOWNLOAD_FAILED;
	if (t->length > 0) {
		*ret_bytes = t->bytes;
		*ret_length = t->length;
		t->length = 0;
		return DOWNLOAD_PIECE;
	}
	if (t->over)
		return end(t);
	t->working = crew_send(t->options.crew, &t->job) == 0;
	return t->working ? DOWNLOAD_WAIT : DOWNLOAD_FAILED;
}

static void on_closed(void *user)
{
	struct tar_stream *t = user;
	t->closed = true;
	if (!t->working)
		destroy(t);
}

int tar_stream_reply(struct request *r, struct pack *pack, const struct tar_stream_options *options,
	struct tar_stream **ret)
{
	struct tar_stream *t = calloc(1, sizeof *t);
	if (!t) {
		pack_close(pack);
		return -ENOMEM;
	}
	t->job = (struct job){.work = on_work, .done = on_done};
	t->options = *options;
	snprintf(t->job.owner, sizeof t->job.owner, "%s", options->owner);
	t->request = request_ref(r);
	t->pack = pack;
	*ret = t;
	download_reply(r, 200, options->type, DOWNLOAD_UNKNOWN,
		&(struct download_source){.next = next, .closed = on_closed, .user = t});
	return 0;
}

void tar_stream_stop(struct tar_stream *t)
{
	t->stopped = true;
	download_more(t->request);
}
