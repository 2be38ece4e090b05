/* The PTY and the shell on it. */
#include "pty/holder/holder.h"
#include "pty/holder/shell.h"
#include "pty/proc/proc.h"
#include "ring/cell_size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <termios.h>
#include <unistd.h>

static int open_pair(int *ret_master, int *ret_slave)
{
	int rc, slave;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0)
		return -errno;
	char name[64];
	if (grantpt(master) < 0 || unlockpt(master) < 0) {
		rc = -errno;
		goto err_master;
	}
	rc = -ptsname_r(master, name, sizeof name);
	if (rc < 0)
		goto err_master;
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0) {
		rc = -errno;
		goto err_master;
	}
	*ret_master = master;
	*ret_slave = slave;
	return 0;
err_master:
	close(master);
	return rc;
}

static int set_size(int fd, unsigned rows, unsigned cols)
{
	const struct winsize size = cell_size_window(rows, cols);
	return ioctl(fd, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

/* Make the shell's user the owner of the terminal. */
static int change_owner(const struct holder *h, int fd)
{
	uid_t owner = h->options.owner;
	return owner != geteuid() && fchown(fd, owner, (gid_t)-1) < 0 ? -errno : 0;
}

/* Start the shell as our own child. */
static int start_shell(struct holder *h, int slave, enum report_stage *ret_stage)
{
	const struct holder_options *o = &h->options;
	const struct shell_options shell = {.argv = o->argv,
		.cwd = h->cwd,
		.fallback = o->cwd,
		.nofile = o->nofile,
		.limits = &o->limits,
		.announce_fd = -1};
	int rc = shell_start(&shell, slave, &h->shell, ret_stage);
	if (rc == 0)
		h->shell_fd = pidfd_open(h->shell, 0); /* if it fails, no signals */
	return rc;
}

/* Start the first shell, by the starter if there is one. */
static int start_first(struct holder *h, int slave, enum report_stage *ret_stage)
{
	if (!h->options.starter)
		return start_shell(h, slave, ret_stage);
	*ret_stage = REPORT_SETUP;
	int rc = starter_client_open(h, slave);
	if (rc == 0)
		rc = starter_client_start_shell(h, true);
	if (rc < 0 && h->start_error == rc)
		*ret_stage = h->start_stage;
	return rc;
}

int terminal_start(struct holder *h, enum report_stage *ret_stage)
{
	int master = -1, slave = -1, rc;
	*ret_stage = REPORT_TERMINAL;
	rc = open_pair(&master, &slave);
	if (rc < 0)
		return rc;
	if (tcgetattr(slave, &h->modes) == 0) {
		h->modes.c_iflag |= IUTF8;
		if (h->options.no_flow)
			h->modes.c_iflag &= ~(tcflag_t)IXON;
		tcsetattr(slave, TCSANOW, &h->modes);
	}
	rc = set_size(slave, h->options.rows, h->options.cols);
	if (rc == 0)
		rc = change_owner(h, slave);
	if (rc == 0)
		rc = start_first(h, slave, ret_stage);
	if (rc < 0)
		goto err_pair;
	close(slave);
	h->sources[EVENT_SOURCE_TERMINAL].fd = master;
	return 0;
err_pair:
	close(master);
	close(slave);
	return rc;
}

void terminal_note_cwd(struct holder *h)
{
	char cwd[HOLDER_CWD_MAX];
	if (h->options.starter) {
		(void)starter_client_send(h, STARTER_NOTE_CWD, 0);
		return;
	}
	size_t length = proc_read_link(h->shell, "cwd", cwd, sizeof cwd);
	if (length > 0) /* else the shell has ended: keep the last value */
		memcpy(h->cwd, cwd, length + 1);
}

int terminal_restart(struct holder *h)
{
	enum report_stage stage;
	int master = h->sources[EVENT_SOURCE_TERMINAL].fd;
	int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	/* Input for the old shell and its programs must not run as commands of the new one. */
	tcflush(master, TCOFLUSH);
	tcflush(slave, TCIFLUSH);
	tcsetattr(slave, TCSANOW, &h->modes);
	tcflow(slave, TCOON);
	set_size(slave, h->options.rows, h->options.cols);
	int rc = h->options.starter ? starter_client_start_shell(h, false)
				    : start_shell(h, slave, &stage);
	close(slave);
	return rc;
}

int terminal_open_second(struct holder *h, char *name)
{
	int master = -1, slave = -1, rc;
	struct termios modes;
	if (h->sources[EVENT_SOURCE_STDERR_PTY].fd >= 0)
		return -EBUSY;
	rc = open_pair(&master, &slave);
	if (rc < 0)
		return rc;
	if (tcgetattr(slave, &modes) < 0 || ptsname_r(master, name, 64) != 0) {
		rc = -errno;
		goto err_pair;
	}
	/* Raw, so that the bytes are exact; feed.c adds the CRs. */
	cfmakeraw(&modes);
	if (tcsetattr(slave, TCSANOW, &modes) < 0) {
		rc = -errno;
		goto err_pair;
	}
	set_size(slave, h->options.rows, h->options.cols);
	rc = change_owner(h, slave);
	if (rc == 0 && h->options.starter)
		rc = starter_client_send_terminal(h, slave);
	if (rc < 0)
		goto err_pair;
	if (h->options.starter)
		snprintf(name, 64, "/proc/%d/fd/%d", (int)h->starter_pid, WIRE_FIXED_FD_STDERR_PTY);
	close(slave);
	h->sources[EVENT_SOURCE_STDERR_PTY] = (struct source){.fd = master, .add_cr = true};
	return 0;
err_pair:
	close(master);
	close(slave);
	return rc;
}

int terminal_resize(struct holder *h, unsigned rows, unsigned cols)
{
	struct event_resize payload = {.rows = (uint16_t)rows, .cols = (uint16_t)cols};
	if (rows == 0 || cols == 0 || rows > UINT16_MAX || cols > UINT16_MAX)
		return -EINVAL;
	if (h->exited)
		return -ESRCH;
	if (!feed_has_event_space(h))
		return -EAGAIN;
	/* Output for the old size comes before the event, as far as the ring has space. */
	feed_all(h);
	int rc = set_size(h->sources[EVENT_SOURCE_TERMINAL].fd, rows, cols);
	if (rc < 0)
		return rc;
	if (h->sources[EVENT_SOURCE_STDERR_PTY].fd >= 0)
		set_size(h->sources[EVENT_SOURCE_STDERR_PTY].fd, rows, cols);
	h->options.rows = rows;
	h->options.cols = cols;
	atomic_store(&h->ring.header->geometry, rows << 16 | cols);
	feed_event(h, EVENT_RESIZE, &payload, sizeof payload);
	return 0;
}
