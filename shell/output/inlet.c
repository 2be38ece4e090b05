/*
 * The FIFO is opened for writing with O_NONBLOCK, which fails as long as it has no reader; a
 * process blocked in open(2) for reading counts as one, and our open() wakes it. So the command's
 * start need not be reported.
 */
#include "shell/output/inlet.h"

#include "shell/own_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

struct inlets {
	uv_loop_t *loop;
	const char *runtime_dir;
	unsigned writer_ms;
	struct inlet *list;
	unsigned count, closing;
	bool closed;
};

struct inlet {
	struct inlet *prev, *next;
	struct inlets *all;
	char id[FIFO_ID_SIZE];
	const struct inlet_callbacks *callbacks; /* NULL: none */
	void *user;
	bool written;     /* it has or had a writer */
	bool complete;    /* the writer has ended the input */
	int place, fd;    /* the FIFO: O_PATH; for writing, -1: no reader yet */
	uv_timer_t timer; /* for opening the FIFO, or of waiting for a writer */
	unsigned look_ms; /* interval between attempts to open */
	uv_poll_t poll;   /* of fd */
	bool polling;     /* poll is open */
	unsigned handles;
	char *held; /* the queue: from held_at to held_end */
	size_t held_at, held_end;
	uint64_t bytes; /* written to the FIFO */
};

static void maybe_free(struct inlets *all)
{
	if (all->closed && all->closing == 0)
		free(all);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct inlet *i = handle->data;
	struct inlets *all = i->all;
	if (--i->handles > 0)
		return;
	free(i->held);
	free(i);
	all->closing--;
	maybe_free(all);
}

static void close_inlet(struct inlet *i)
{
	struct inlets *all = i->all;
	DL_DELETE(all->list, i);
	all->count--;
	all->closing++;
	(void)!fifo_remove(all->runtime_dir, i->id); /* it may have been moved */
	uv_close((uv_handle_t *)&i->timer, on_handle_closed);
	if (i->polling)
		uv_close((uv_handle_t *)&i->poll, on_handle_closed);
	if (i->fd >= 0)
		close(i->fd);
	close(i->place);
}

static void end(struct inlet *i, bool refused)
{
	const struct inlet_callbacks *callbacks = i->callbacks;
	void *user = i->user;
	uint64_t bytes = i->bytes;
	close_inlet(i);
	if (callbacks)
		callbacks->ended(user, bytes, refused);
}

/* Write the queue to the FIFO. Returns 0, -EAGAIN, or the error if the reader is gone. */
static int flush(struct inlet *i)
{
	while (i->held_at < i->held_end) {
		ssize_t n = write(i->fd, i->held + i->held_at, i->held_end - i->held_at);
		if (n < 0 && errno != EINTR)
			return -errno;
		i->held_at += n > 0 ? (size_t)n : 0;
		i->bytes += n > 0 ? (uint64_t)n : 0;
	}
	i->held_at = i->held_end = 0;
	return 0;
}

static void on_polled(uv_poll_t *poll, int status, int events);

/*
 * Wait for space in the FIFO, or for the reader to go away, which the kernel reports for any poll.
 */
static void watch(struct inlet *i)
{
	uv_poll_start(&i->poll, i->held_end > 0 ? UV_WRITABLE : UV_DISCONNECT, on_polled);
}

/* Write the queue and report the result; i may be freed afterwards. */
static void write_queue(struct inlet *i)
{
	bool held = i->held_end > 0;
	int rc = flush(i);
	if (rc < 0 && rc != -EAGAIN) {
		end(i, true);
		return;
	}
	if (rc == 0 && i->complete) {
		end(i, false);
		return;
	}
	watch(i);
	if (rc == 0 && held && i->callbacks)
		i->callbacks->drained(i->user);
}

static void on_polled(uv_poll_t *poll, int status, int events)
{
	struct inlet *i = poll->data;
	(void)events;
	if (status < 0 && (i->held_end > 0 || !i->complete))
		end(i, true);
	else
		write_queue(i);
}

/* Open the FIFO for writing. Returns 0 or a negative errno: -ENXIO without a reader. */
static int open_fifo(struct inlet *i)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", i->place);
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int rc = uv_poll_init(i->all->loop, &i->poll, fd);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	i->poll.data = i;
	i->handles++;
	i->polling = true;
	i->fd = fd;
	return 0;
}

/* Whether a command may still open it: the FIFO still has a name. */
static bool is_awaited(const struct inlet *i)
{
	struct stat st;
	return fstat(i->place, &st) == 0 && st.st_nlink > 0;
}

/* No writer came. If a command has taken the FIFO, open and close it: the command reads EOF. */
static void give_up_writer(struct inlet *i)
{
	if (i->fd < 0 && fifo_remove(i->all->runtime_dir, i->id) < 0) {
		i->look_ms = INLET_LOOK_FIRST_MS;
		i->written = i->complete = true;
	}
}

static void on_timer(uv_timer_t *timer)
{
	struct inlet *i = timer->data;
	if (!i->written)
		give_up_writer(i);
	int rc = i->written ? open_fifo(i) : -ETIMEDOUT;
	if (rc == 0) {
		write_queue(i);
	} else if (!i->written || (rc != -ENXIO && rc != -EMFILE && rc != -ENFILE) ||
		!is_awaited(i)) {
		end(i, true);
	} else {
		i->look_ms = i->look_ms * 2 < INLET_LOOK_LAST_MS ? i->look_ms * 2
								 : INLET_LOOK_LAST_MS;
		uv_timer_start(timer, on_timer, i->look_ms, 0);
	}
}

int inlets_open(
	uv_loop_t *loop, const char *runtime_dir, unsigned writer_ms, struct inlets **ret_inlets)
{
	struct inlets *all = calloc(1, sizeof *all);
	if (!all)
		return -ENOMEM;
	*all = (struct inlets){.loop = loop, .runtime_dir = runtime_dir, .writer_ms = writer_ms};
	fifo_clear(runtime_dir);
	*ret_inlets = all;
	return 0;
}

void inlets_close(struct inlets *all)
{
	struct inlet *i, *next;
	if (!all)
		return;
	DL_FOREACH_SAFE (all->list, i, next)
		close_inlet(i);
	all->closed = true;
	maybe_free(all);
}

unsigned inlets_count(const struct inlets *all)
{
	return all->count;
}

int inlet_create(struct inlets *all, char ret_id[FIFO_ID_SIZE])
{
	if (all->count >= INLETS_MAX)
		return -ERR_LIMIT;
	struct inlet *i = calloc(1, sizeof *i);
	if (!i)
		return -ENOMEM;
	i->all = all;
	i->fd = -1;
	int rc = fifo_create(all->runtime_dir, i->id, &i->place);
	if (rc < 0) {
		free(i);
		return rc;
	}
	uv_timer_init(all->loop, &i->timer);
	i->timer.data = i;
	i->handles = 1;
	uv_timer_start(&i->timer, on_timer, all->writer_ms, 0);
	DL_APPEND(all->list, i);
	all->count++;
	memcpy(ret_id, i->id, FIFO_ID_SIZE);
	return 0;
}

struct inlet *inlet_find(const struct inlets *all, const char *id)
{
	struct inlet *i;
	DL_FOREACH (all->list, i)
		if (strcmp(i->id, id) == 0)
			return i;
	return NULL;
}

int inlet_reader(struct inlet *i)
{
	char path[64];
	int rc = fifo_remove(i->all->runtime_dir, i->id);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof path, "/proc/self/fd/%d", i->place);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Open the writing end too, so that the command does not read EOF at once. */
	rc = i->fd < 0 ? open_fifo(i) : 0;
	if (rc == 0 && fcntl(fd, F_SETFL, 0) < 0)
		rc = -errno;
	if (rc < 0) {
		close(fd);
		return rc;
	}
	if (i->written) /* the queue is written when the loop runs */
		uv_timer_stop(&i->timer);
	uv_poll_start(&i->poll, i->written ? UV_WRITABLE : UV_DISCONNECT, on_polled);
	return fd;
}

int inlet_write_begin(struct inlet *i, const struct inlet_callbacks *callbacks, void *user)
{
	if (i->written)
		return -EBUSY;
	i->written = true;
	i->callbacks = callbacks;
	i->user = user;
	i->look_ms = INLET_LOOK_FIRST_MS;
	uv_timer_stop(&i->timer);
	if (i->fd < 0)
		uv_timer_start(&i->timer, on_timer, 0, 0);
	return 0;
}

/* Queue what does not fit into the FIFO. */
static int hold(struct inlet *i, const char *bytes, size_t length)
{
	char *held = realloc(i->held, length);
	if (!held)
		return -ENOMEM;
	memcpy(held, bytes, length);
	i->held = held;
	i->held_at = 0;
	i->held_end = length;
	if (i->fd >= 0)
		watch(i);
	return -EAGAIN;
}

int inlet_write(struct inlet *i, const void *bytes, size_t length)
{
	const char *rest = bytes;
	while (length > 0 && i->fd >= 0) {
		ssize_t n = write(i->fd, rest, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) /* it is full; or the reader is gone, which the poll reports */
			break;
		rest += n;
		length -= (size_t)n;
		i->bytes += (uint64_t)n;
	}
	return length > 0 ? hold(i, rest, length) : 0;
}

void inlet_write_end(struct inlet *i, bool listen)
{
	i->complete = true;
	if (!listen)
		i->callbacks = NULL;
	if (i->fd >= 0) /* ended() is called when the loop runs */
		uv_poll_start(&i->poll, UV_WRITABLE, on_polled);
}
