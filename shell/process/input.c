/*
 * The standard input of a process: a FIFO that its supervisor keeps open, so that it ends when that is asked
 * for and not when a server does.
 */
#include "pty/supervise.h"
#include "shell/process/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

#define QUEUE_MIN ((size_t)4096)

size_t process_input_queued(const struct process *p)
{
	return p->input.length - p->input.start;
}

static void drop_queue(struct process_input *in)
{
	free(in->queue);
	in->queue = NULL;
	in->start = in->length = in->capacity = 0;
}

void process_input_close(struct process *p)
{
	struct process_input *in = &p->input;
	if (in->poll_open)
		uv_close((uv_handle_t *)&in->poll, process_on_handle_closed);
	in->poll_open = in->polling = false;
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	drop_queue(in);
	p->input_closed = true;
}

/* Tell the supervisor to let go of it too. */
static void finish(struct process *p)
{
	int rc = link_signal(&p->held.link, SIGUSR1, WIRE_TARGET_SHELL);
	if (rc < 0)
		p->table->callbacks->failed(
			p->table->user, p->held.id, "cannot end its standard input", rc);
	process_input_close(p);
	process_save(p);
}

/* Write what the FIFO takes. Returns bytes taken, or -EPIPE. */
static ssize_t write_some(struct process *p, const uint8_t *bytes, size_t length)
{
	size_t done = 0;
	while (done < length) {
		ssize_t n = write(p->input.fd, bytes + done, length - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			break;
		else if (n < 0 && errno != EINTR)
			return -errno;
	}
	p->table->counters.bytes_in += done;
	return (ssize_t)done;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
	struct process *p = poll->data;
	struct process_input *in = &p->input;
	(void)status;
	(void)events;
	ssize_t n = write_some(p, in->queue + in->start, process_input_queued(p));
	if (n < 0) {
		process_input_close(p);
		process_tell(p);
		return;
	}
	in->start += (size_t)n;
	if (process_input_queued(p) > 0)
		return;
	uv_poll_stop(poll);
	in->polling = false;
	drop_queue(in);
	if (in->ending)
		finish(p);
	process_tell(p);
}

static int open_fifo(struct process *p)
{
	struct process_input *in = &p->input;
	in->fd = openat(p->held.link.dir_fd, SUPERVISE_STDIN,
		O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (in->fd < 0)
		return errno == ENXIO ? -EPIPE : -errno; /* nobody reads it any more */
	int rc = uv_poll_init(p->table->loop, &in->poll, in->fd);
	if (rc < 0) {
		close(in->fd);
		in->fd = -1;
		return rc;
	}
	in->poll.data = p;
	in->poll_open = true;
	p->open_handles++;
	return 0;
}

/* Append to the queue, and write it when the FIFO has room. */
static int queue(struct process *p, const uint8_t *bytes, size_t length)
{
	struct process_input *in = &p->input;
	size_t left = process_input_queued(p);
	if (in->length + length > in->capacity) {
		size_t capacity = QUEUE_MIN;
		while (capacity < left + length)
			capacity *= 2;
		uint8_t *longer = malloc(capacity);
		if (!longer)
			return -ENOMEM;
		if (left > 0)
			memcpy(longer, in->queue + in->start, left);
		free(in->queue);
		in->queue = longer;
		in->capacity = capacity;
		in->start = 0;
		in->length = left;
	}
	memcpy(in->queue + in->length, bytes, length);
	in->length += length;
	if (in->polling)
		return 0;
	in->polling = true;
	return uv_poll_start(&in->poll, UV_WRITABLE, on_writable);
}

static int check(const struct process *p)
{
	if (!p->input_pipe)
		return -ENODEV;
	return p->state != PROCESS_RUNNING || p->input_closed || p->input.ending ? -EPIPE : 0;
}

int process_write(struct process *p, const void *bytes, size_t length)
{
	int rc = check(p);
	if (rc == 0 && process_input_queued(p) + length > PROCESS_INPUT_MAX)
		rc = -ENOBUFS;
	if (rc == 0 && p->input.fd < 0)
		rc = open_fifo(p);
	if (rc < 0)
		return rc;
	ssize_t done = 0;
	if (process_input_queued(p) == 0)
		done = write_some(p, bytes, length);
	if (done < 0) {
		process_input_close(p);
		return -EPIPE;
	}
	if ((size_t)done == length)
		return 0;
	return queue(p, (const uint8_t *)bytes + done, length - (size_t)done);
}

int process_end_input(struct process *p)
{
	int rc = check(p);
	if (rc < 0)
		return rc;
	if (process_input_queued(p) > 0)
		p->input.ending = true;
	else
		finish(p);
	return 0;
}
