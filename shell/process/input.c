/* The standard input: a FIFO that the supervisor keeps open, so that it survives a server. */
#include "pty/supervise.h"
#include "shell/own_error.h"
#include "shell/process/internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

size_t process_input_queued(const struct process *p)
{
	return outbox_queued(&p->input.outbox);
}

static void move(struct process_input *in, enum process_input_state state)
{
	static const bool allowed[PROCESS_INPUT_STATES][PROCESS_INPUT_STATES] = {
		[PROCESS_INPUT_OPEN] = {[PROCESS_INPUT_ENDING] = true, [PROCESS_INPUT_CLOSED] = true},
		[PROCESS_INPUT_ENDING] = {[PROCESS_INPUT_CLOSED] = true},
		[PROCESS_INPUT_CLOSED] = {[PROCESS_INPUT_CLOSED] = true},
	};
	assert(allowed[in->state][state]);
	in->state = state;
}

void process_input_close(struct process *p)
{
	struct process_input *in = &p->input;
	if (in->state == PROCESS_INPUT_NONE)
		return;
	if (in->fd >= 0) {
		uv_close((uv_handle_t *)&in->poll, process_on_handle_closed);
		close(in->fd);
	}
	in->fd = -1;
	outbox_drop(&in->outbox);
	move(in, PROCESS_INPUT_CLOSED);
}

/* Make the supervisor close it too. */
static void end_input(struct process *p)
{
	int rc = error_of_holder(link_signal(&p->held.link, SIGUSR1, WIRE_TARGET_SHELL));
	if (rc < 0)
		p->table->callbacks->failed(
			p->table->user, p->held.id, "cannot end its standard input", rc);
	process_input_close(p);
	process_save(p);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
	struct process *p = poll->data;
	struct process_input *in = &p->input;
	(void)status;
	(void)events;
	ssize_t n = outbox_flush(&in->outbox, in->fd);
	if (n < 0) {
		process_input_close(p);
		process_notify(p);
		return;
	}
	p->table->counters.bytes_in += (uint64_t)n;
	if (process_input_queued(p) > 0)
		return;
	uv_poll_stop(poll);
	if (in->state == PROCESS_INPUT_ENDING)
		end_input(p);
	process_notify(p);
}

static int open_fifo(struct process *p)
{
	struct process_input *in = &p->input;
	in->fd = openat(p->held.link.dir_fd, SUPERVISE_STDIN,
		O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (in->fd < 0)
		return errno == ENXIO ? -EPIPE : -errno; /* ENXIO: it has no reader */
	int rc = uv_poll_init(held_loop(&p->held), &in->poll, in->fd);
	if (rc < 0) {
		close(in->fd);
		in->fd = -1;
		return rc;
	}
	in->poll.data = p;
	p->open_handles++;
	return 0;
}

/* Write it when the FIFO has space. */
static int queue_input(struct process *p, const uint8_t *bytes, size_t length)
{
	struct process_input *in = &p->input;
	int rc = outbox_put(&in->outbox, bytes, length);
	if (rc < 0 || uv_is_active((const uv_handle_t *)&in->poll))
		return rc;
	return uv_poll_start(&in->poll, UV_WRITABLE, on_writable);
}

static int check_input(const struct process *p)
{
	if (p->input.state == PROCESS_INPUT_NONE)
		return -ERR_NO_INPUT;
	return p->state != PROCESS_RUNNING || p->input.state != PROCESS_INPUT_OPEN ? -EPIPE : 0;
}

int process_write(struct process *p, const void *bytes, size_t length)
{
	int rc = check_input(p);
	if (rc == 0 && process_input_queued(p) + length > PROCESS_INPUT_MAX)
		rc = -ENOBUFS;
	if (rc == 0 && p->input.fd < 0)
		rc = open_fifo(p);
	if (rc < 0)
		return rc;
	ssize_t done = outbox_write(&p->input.outbox, p->input.fd, bytes, length);
	if (done < 0) {
		process_input_close(p);
		return -EPIPE;
	}
	p->table->counters.bytes_in += (uint64_t)done;
	if ((size_t)done == length)
		return 0;
	return queue_input(p, (const uint8_t *)bytes + done, length - (size_t)done);
}

int process_end_input(struct process *p)
{
	int rc = check_input(p);
	if (rc < 0)
		return rc;
	if (process_input_queued(p) > 0)
		move(&p->input, PROCESS_INPUT_ENDING);
	else
		end_input(p);
	return 0;
}
