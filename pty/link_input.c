/*
 * Input for the terminal: written through the master at once, or queued until the terminal accepts more.
 * Receipts count it. While a resize is unanswered all input is queued, because input written after
 * link_resize() must reach the terminal after the change.
 */
#include "pty/link_internal.h"
#include "ring/receipts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t link_input_queued(const struct link *l)
{
	return outbox_queued(&l->input);
}

uint64_t link_input_end(const struct link *l)
{
	return receipts_written(&l->control) + link_input_queued(l);
}

void link_drop_input(struct link *l)
{
	if (l->master_open)
		uv_poll_stop(&l->master);
	receipts_confirm(&l->control, link_input_queued(l)); /* so that no client sends it again */
	outbox_drop(&l->input);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
	struct link *l = poll->data;
	(void)status;
	(void)events;
	receipts_announce(&l->control, link_input_queued(l));
	ssize_t done = outbox_flush(&l->input, l->master_fd);
	receipts_confirm(&l->control, done > 0 ? (size_t)done : 0);
	/* On -EIO no shell reads the terminal: discard the input. */
	if (done < 0 || link_input_queued(l) == 0)
		link_drop_input(l);
}

void link_resume_input(struct link *l)
{
	if (l->master_open && link_input_queued(l) > 0)
		uv_poll_start(&l->master, UV_WRITABLE, on_writable); /* fails only if closed */
}

int link_write(struct link *l, const void *bytes, size_t length)
{
	ssize_t done = 0;
	if (l->state != LINK_ATTACHED || !l->master_open)
		return -ENOTCONN;
	size_t waiting = link_input_queued(l);
	if (waiting + length > LINK_INPUT_MAX)
		return -ENOBUFS;
	if (l->resizing == 0 && waiting == 0) {
		receipts_announce(&l->control, length);
		done = outbox_write(&l->input, l->master_fd, bytes, length);
		receipts_confirm(&l->control, done < 0 ? length : (size_t)done);
	}
	/* On -EIO no shell reads the terminal: the input is discarded. */
	if (done < 0 || (size_t)done == length)
		return 0;
	int rc = outbox_put(&l->input, (const uint8_t *)bytes + done, length - (size_t)done);
	if (rc == 0 && waiting == 0 && l->resizing == 0)
		rc = uv_poll_start(&l->master, UV_WRITABLE, on_writable);
	return rc;
}

size_t link_unread_input(const struct link *l)
{
	int unread = 0;
	int slave = l->master_open ? ioctl(l->master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)
				   : -1;
	if (slave < 0)
		return 0;
	/* FIONREAD does not count what the kernel has yet to pass to the line discipline; poll() waits for that. */
	if (ioctl(slave, FIONREAD, &unread) == 0 && unread == 0) {
		(void)poll(&(struct pollfd){.fd = slave, .events = POLLIN}, 1, 0);
		(void)ioctl(slave, FIONREAD, &unread);
	}
	close(slave);
	return unread > 0 ? (size_t)unread : 0;
}
