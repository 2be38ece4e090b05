/* See socket_text.h. A text that a thread parses is owned by its job, which may outlive the socket. */
#include "ws/net/socket_text.h"

#include "ws/net/internal.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LONG ((size_t)2 << 20) /* larger texts are reserved as bodies */

static void release(struct socket_text *t)
{
	bodies_release(&t->server->bodies, t->room, false);
	quota_release(&t->place);
	t->room = 0;
}

void socket_text_drop(struct socket_text *t)
{
	release(t);
	free(t->bytes);
	t->bytes = NULL;
	t->size = 0;
}

/* Reserve size bytes in all. Returns false if a limit would be exceeded. */
static bool reserve(struct socket_text *t, size_t size)
{
	struct server *s = t->server;
	release(t);
	if (server_acquire_quota(s, QUOTA_BODY_BYTES, size, t->principal, &t->place) &&
		bodies_reserve(&s->bodies, size, false)) {
		t->room = size;
		return true;
	}
	quota_release(&t->place);
	s->options.metrics->bodies_refused++;
	return false;
}

/* Enlarge the buffer. Returns NULL, or a close reason. */
static const char *grow(struct socket_text *t, size_t size)
{
	if (size > TEXT_LONG && !reserve(t, size))
		return "too much is being received";
	char *bytes = realloc(t->bytes, size);
	if (!bytes)
		return "out of memory";
	t->bytes = bytes;
	t->size = size;
	return NULL;
}

const char *socket_text_append(
	struct socket_text *t, size_t max, size_t at, const void *bytes, size_t length)
{
	size_t needed = at + length;
	if (needed > max)
		return NULL;
	const char *problem = needed > t->size ? grow(t, needed * 2 < max ? needed * 2 : max) : NULL;
	if (problem)
		return problem;
	if (length > 0)
		memcpy(t->bytes + at, bytes, length);
	return NULL;
}

/* On a thread */

struct socket_text_job {
	uv_work_t work;
	struct socket_text text;
	size_t length;
	const struct frames_protocol *protocol;
	void *sense;               /* result of protocol->read(); owned */
	socket_text_job_done done; /* NULL = drop the result */
	void *user;
};

static void on_read(uv_work_t *work)
{
	struct socket_text_job *a = work->data;
	a->sense = a->protocol->read(a->text.bytes, a->length);
}

static void on_done(uv_work_t *work, int status)
{
	struct socket_text_job *a = work->data;
	(void)status; /* it is never cancelled */
	if (a->done)
		a->done(a->user, a->sense, a->text.bytes, a->length);
	else
		a->protocol->forget(a->sense);
	socket_text_drop(&a->text);
	free(a);
}

struct socket_text_job *socket_text_job_start(struct socket_text *t, size_t length,
	const struct frames_protocol *protocol, socket_text_job_done done, void *user)
{
	struct socket_text_job *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->length = length;
	a->protocol = protocol;
	a->done = done;
	a->user = user;
	a->work.data = a;
	a->text = *t;
	if (uv_queue_work(t->server->options.loop, &a->work, on_read, on_done) < 0) {
		free(a);
		return NULL;
	}
	*t = (struct socket_text){.server = t->server, .principal = t->principal};
	return a;
}

void socket_text_job_abandon(struct socket_text_job *a)
{
	if (!a)
		return;
	a->done = NULL;
	a->text.principal = NULL;
}
