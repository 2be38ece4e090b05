/* See socket_text.h. What a thread has belongs to it until it is done, whatever becomes of the socket. */
#include "ws/net/socket_text.h"

#include "ws/net/internal.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LONG ((size_t)2 << 20) /* a text that needs more takes room as a body does */

static void give_room(struct socket_text *t)
{
	bodies_give(&t->server->bodies, t->room, false);
	quota_give(&t->place);
	t->room = 0;
}

void socket_text_drop(struct socket_text *t)
{
	give_room(t);
	free(t->bytes);
	t->bytes = NULL;
	t->size = 0;
}

/* Take room for a text, in place of what it has. */
static bool take_room(struct socket_text *t, size_t size)
{
	struct server *s = t->server;
	struct access *a = s->options.dispatcher->access;
	give_room(t);
	if ((!a || quota_take(&a->quotas, QUOTA_BODY_BYTES, (unsigned)size, t->principal, &t->place)) &&
		bodies_take(&s->bodies, size, false)) {
		t->room = size;
		return true;
	}
	quota_give(&t->place);
	s->options.metrics->bodies_refused++;
	return false;
}

/* Returns NULL, or why there is no room. */
static const char *grow(struct socket_text *t, size_t size)
{
	if (size > TEXT_LONG && !take_room(t, size))
		return "too much is being received";
	char *bytes = realloc(t->bytes, size);
	if (!bytes)
		return "out of memory";
	t->bytes = bytes;
	t->size = size;
	return NULL;
}

const char *socket_text_keep(
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

struct socket_ahead {
	uv_work_t work;
	struct socket_text text;
	size_t length;
	const struct frames_protocol *protocol;
	void *sense;            /* what has been made of it; owned */
	socket_ahead_done done; /* NULL: nobody waits any more */
	void *user;
};

static void on_read(uv_work_t *work)
{
	struct socket_ahead *a = work->data;
	a->sense = a->protocol->read(a->text.bytes, a->length);
}

static void on_done(uv_work_t *work, int status)
{
	struct socket_ahead *a = work->data;
	(void)status; /* nothing cancels it */
	if (a->done)
		a->done(a->user, a->sense, a->text.bytes, a->length);
	else
		a->protocol->forget(a->sense);
	socket_text_drop(&a->text);
	free(a);
}

struct socket_ahead *socket_ahead_begin(struct socket_text *t, size_t length,
	const struct frames_protocol *protocol, socket_ahead_done done, void *user)
{
	struct socket_ahead *a = calloc(1, sizeof *a);
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

void socket_ahead_forget(struct socket_ahead *a)
{
	if (!a)
		return;
	a->done = NULL;
	a->text.principal = NULL;
}
