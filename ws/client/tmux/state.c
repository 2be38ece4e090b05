/*
 * The state file. It is replaced by rename(2), under the lock, so a killed call leaves the old one. A file that
 * cannot be read is an error, and is not overwritten.
 */
#include "ws/client/tmux/state.h"

#include "shell/write_all.h"
#include "ws/client/tmux/state_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define LOCK_WITHIN_S 120u /* longer than a request may take: PATIENCE_MS */

/* The path of a file of this tmux server. */
static char *path_of(struct tmux *t, const char *suffix)
{
	return arena_print(&t->arena, "%s%s", t->path, suffix);
}

/* Interrupts flock(2). */
static void on_alarm(int signo)
{
	(void)signo;
}

/* Lock the file. No call keeps the lock for long. Returns 0 or a negative errno. */
static int wait_lock(int fd)
{
	struct sigaction action = {.sa_handler = on_alarm}, before;
	const struct itimerval each = {{.tv_sec = 1}, {.tv_sec = 1}}, none = {0};
	int rc = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
	if (rc != -EWOULDBLOCK)
		return rc;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &each, NULL);
	for (unsigned i = 0; rc < 0 && i < LOCK_WITHIN_S; i++) {
		rc = flock(fd, LOCK_EX) == 0 ? 0 : -errno;
		if (rc < 0 && rc != -EINTR)
			break;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &before, NULL);
	return rc == -EINTR ? -ETIMEDOUT : rc;
}

static int lock_path(struct tmux *t)
{
	struct stat held, named;
	for (;;) {
		int fd = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0)
			return -errno;
		if (fstat(fd, &held) < 0 || !S_ISREG(held.st_mode) || held.st_uid != geteuid() ||
			held.st_size != 0) {
			close(fd);
			return -EEXIST;
		}
		int rc = wait_lock(fd);
		if (rc < 0) {
			close(fd);
			return rc;
		}
		/* The previous holder may have removed the file. */
		if (stat(t->path, &named) == 0 && named.st_ino == held.st_ino &&
			named.st_dev == held.st_dev) {
			t->lock = fd;
			return 0;
		}
		close(fd);
	}
}

static int read_state(struct tmux *t, const char *name, size_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), rc = fd < 0 ? -errno : 0;
	size_t length = 0;
	char *bytes = arena_alloc(&t->arena, size + 1);
	while (rc == 0 && length < size) {
		ssize_t n = read(fd, bytes + length, size - length);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			rc = -errno;
		length += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	t->state = bytes;
	t->state_length = length;
	return rc;
}

int state_open(struct tmux *t)
{
	json_error_t error;
	int rc = lock_path(t);
	model_init(&t->model, &t->arena);
	t->damaged = true;
	t->state = NULL;
	if (rc == -EEXIST || rc == -ENXIO || rc == -ELOOP)
		return tmux_error(t,
			"error connecting to %s (something else is there: not an empty regular file of this user)",
			t->path);
	if (rc == -ETIMEDOUT)
		return tmux_error(t,
			"error connecting to %s (another command kept the lock for %u s)", t->path,
			LOCK_WITHIN_S);
	if (rc < 0)
		return tmux_error(t, "error connecting to %s (%s)", t->path, strerror(-rc));
	const char *name = path_of(t, STATE_SUFFIX);
	struct stat st;
	if (stat(name, &st) < 0) {
		t->damaged = errno != ENOENT;
		return t->damaged ? tmux_error(t, "%s: %s", name, strerror(errno)) : 0;
	}
	if (st.st_uid != geteuid() || (st.st_mode & 022) != 0 ||
		(size_t)st.st_size > STATE_BYTES_MAX)
		return tmux_error(t,
			"%s: must be writable by this user only, and have at most %zu bytes", name,
			STATE_BYTES_MAX);
	json_t *o = NULL;
	rc = read_state(t, name, (size_t)st.st_size);
	if (rc < 0)
		return tmux_error(t, "%s: %s", name, strerror(-rc));
	o = json_loadb(t->state, t->state_length, 0, &error);
	const char *wrong = o ? state_json_read(&t->model, o) : error.text;
	json_decref(o);
	if (wrong)
		return tmux_error(t,
			"%s: damaged: %s; remove the file to start a new tmux server (sessions keep running)",
			name, wrong);
	t->damaged = false;
	return 0;
}

static int save(struct tmux *t, const char *name)
{
	char *draft = path_of(t, STATE_SUFFIX ".new");
	json_t *o = state_json_write(&t->model);
	char *bytes = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (!bytes || strlen(bytes) > STATE_BYTES_MAX) {
		free(bytes);
		return bytes ? -EFBIG : -EILSEQ;
	}
	size_t length = strlen(bytes);
	/* Most commands change nothing: do not write then. */
	if (t->state && t->state_length == length && memcmp(t->state, bytes, length) == 0) {
		free(bytes);
		return 0;
	}
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600),
	    rc = fd < 0 ? -errno : 0;
	if (rc == 0)
		rc = write_all(fd, bytes, length);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(draft, name) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(draft);
	t->state = NULL; /* no longer what the file has */
	free(bytes);
	return rc;
}

int state_write(struct tmux *t)
{
	const char *name = path_of(t, STATE_SUFFIX);
	int rc = save(t, name);
	return rc == 0 ? 0 : tmux_error(t, "%s: %s", name, strerror(-rc));
}

int state_close(struct tmux *t)
{
	int rc = 0;
	json_t *begun = t->model.begun;
	if (t->lock < 0)
		return 0;
	const char *name = path_of(t, STATE_SUFFIX);
	if (t->damaged) {
		/* Do not overwrite what could not be read. */
	} else if (t->model.sessions) {
		t->model.begun = json_array();
		rc = save(t, name);
		json_decref(t->model.begun);
		t->model.begun = begun;
	} else {
		unlink(name);
		unlink(t->path);
	}
	close(t->lock);
	t->lock = -1;
	if (rc < 0) {
		json_decref(t->lost);
		t->lost = json_incref(begun);
	}
	model_finish(&t->model);
	return rc == 0 ? 0 : tmux_error(t, "%s: %s", name, strerror(-rc));
}
