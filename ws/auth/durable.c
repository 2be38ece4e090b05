/*
 * One write at a time, because the temporary file has one name. Only the thread uses the document meanwhile; everything
 * else belongs to the loop. A document contains the older ones, so its result is reported to their callbacks too.
 */
#include "ws/auth/durable.h"

#include "shell/store/document.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#define FILE_MAX ((size_t)1 << 20) /* bytes of a file */

struct durable_waiter {
	struct durable_waiter *prev, *next;
	durable_done done;
	void *user;
};

int durable_open(struct durable *d, uv_loop_t *loop, int dir_fd, const char *name,
	void (*add)(void *user, json_t *entry), void *user)
{
	json_t *list, *entry;
	size_t i;
	*d = (struct durable){.loop = loop, .dir_fd = dir_fd, .name = name};
	d->work.data = d;
	int rc = document_load(dir_fd, name, FILE_MAX, &list);
	if (rc < 0)
		return rc == -ENOENT || rc == -EBADMSG ? 0 : rc;
	json_array_foreach (list, i, entry)
		add(user, entry);
	json_decref(list);
	return 0;
}

void durable_finish(struct durable *d)
{
	assert(!d->writing && !d->next && !d->told && !d->told_next);
	*d = (struct durable){.dir_fd = -1};
}

static void call_waiters(struct durable_waiter *list, int error)
{
	struct durable_waiter *w, *next;
	DL_FOREACH_SAFE (list, w, next) {
		w->done(w->user, error);
		free(w);
	}
}

/* Runs on a thread of libuv's pool. */
static void on_work(uv_work_t *work)
{
	struct durable *d = work->data;
	d->error = document_save_durably(d->dir_fd, d->name, d->writing);
}

static void on_written(uv_work_t *work, int status);

static void begin(struct durable *d)
{
	d->writing = d->next;
	d->told = d->told_next;
	d->next = NULL;
	d->told_next = NULL;
	int rc = uv_queue_work(d->loop, &d->work, on_work, on_written);
	assert(rc == 0); /* it only fails if on_work is NULL */
	(void)rc;
}

static void on_written(uv_work_t *work, int status)
{
	struct durable *d = work->data;
	struct durable_waiter *told = d->told;
	int error = status < 0 ? status : d->error;
	d->writing = NULL;
	d->told = NULL;
	if (d->next)
		begin(d);
	call_waiters(told, error);
}

void durable_save(struct durable *d, json_t *document, durable_done done, void *user)
{
	struct durable_waiter *w = done && d->loop ? malloc(sizeof *w) : NULL;
	if (!document || !d->loop || (done && !w)) {
		int rc = d->loop || !document
			? -ENOMEM
			: document_save_durably(d->dir_fd, d->name, json_incref(document));
		json_decref(document);
		free(w);
		if (done)
			done(user, rc);
		return;
	}
	json_decref(d->next);
	d->next = document;
	if (w) {
		*w = (struct durable_waiter){.done = done, .user = user};
		DL_APPEND(d->told_next, w);
	}
	if (!d->writing)
		begin(d);
}
