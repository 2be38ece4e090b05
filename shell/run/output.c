/* The output of a run: read from its pipes or terminals, kept, and passed to output(). */
#include "shell/run/internal.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAIN_MAX ((size_t)256 << 10) /* more than a terminal can hold when its command has ended */

static void end_stream(struct run_output *s)
{
	s->ended = true;
	uv_poll_stop(&s->poll);
}

/* Read once. Returns bytes; 0 if there are none now, or at the end. */
static size_t read_stream(struct run *r, enum run_stream which, size_t most)
{
	struct runs *all = r->all;
	struct run_output *s = &r->streams[which];
	ssize_t n;
	do
		n = read(s->fd, all->chunk, most < RUN_CHUNK ? most : RUN_CHUNK);
	while (n < 0 && errno == EINTR);
	/* EIO: no process has the terminal open any more, and all output has been read. */
	if (n == 0 || (n < 0 && errno != EAGAIN))
		end_stream(s);
	if (n <= 0)
		return 0;
	excerpt_add(&s->kept, all->chunk, (size_t)n, &all->budget);
	if (r->callbacks.output)
		r->callbacks.output(r->user, which, all->chunk, (size_t)n);
	return (size_t)n;
}

bool run_output_has_ended(const struct run *r)
{
	return r->streams[RUN_STDOUT].ended && r->streams[RUN_STDERR].ended;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;
	struct runs *all = r->all;
	enum run_stream which = poll == &r->streams[RUN_STDOUT].poll ? RUN_STDOUT : RUN_STDERR;
	(void)status; /* read() reports errors */
	(void)events;
	/* A read from a terminal returns a page at most. */
	for (size_t left = RUN_CHUNK, n; left > 0 && all->turn > 0 && !r->paused; left -= n) {
		n = read_stream(r, which, left < all->turn ? left : all->turn);
		if (n == 0)
			break;
		all->turn -= n;
	}
	if (r->state == RUN_LINGERING && run_output_has_ended(r))
		run_finish(r);
}

void run_pause(struct run *r, bool pause)
{
	if (r->paused == pause || r->state == RUN_OVER)
		return;
	r->paused = pause;
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		struct run_output *s = &r->streams[i];
		if (pause)
			uv_poll_stop(&s->poll);
		else if (!s->ended)
			uv_poll_start(&s->poll, UV_READABLE, on_readable);
	}
	if (r->state == RUN_LINGERING)
		run_wait_for_writers(r);
}

/* Read what was written before the end: all of a terminal, or what a pipe has now. */
static void drain_stream(struct run *r, enum run_stream which)
{
	size_t left = DRAIN_MAX;
	int waiting = 0;
	if (!r->terminals && ioctl(r->streams[which].fd, FIONREAD, &waiting) == 0)
		left = (size_t)waiting;
	while (left > 0) {
		size_t n = read_stream(r, which, left);
		if (n == 0)
			break;
		left -= n < left ? n : left;
	}
	/* Only another read shows the end of the stream. */
	if (!r->streams[which].ended)
		(void)read_stream(r, which, RUN_CHUNK);
}

void run_drain(struct run *r)
{
	enum run_state before = r->state;
	for (unsigned i = 0; i < RUN_STREAMS && r->state == before; i++)
		if (!r->streams[i].ended)
			drain_stream(r, (enum run_stream)i);
}

void run_watch_output(struct run *r, int out_fd, int err_fd)
{
	const int fds[] = {out_fd, err_fd};
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		r->streams[i].fd = fds[i];
		run_watch(r, &r->streams[i].poll, fds[i], on_readable);
	}
}
