/*
 * Adopting what an earlier server has left running. A directory without a holder is removed, one that was
 * being ended is ended again, and one whose holder is still starting is looked at later.
 */
#include "shell/meta.h"
#include "shell/sessions_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <utlist.h>

#define RESCAN_MS 20u /* for holders whose server was killed while they started */
#define RESCANS_MAX 500u

/* Attach to the holder of a directory, which may be one that is to be ended. */
static int adopt(struct sessions *s, const char *directory, int dir_fd)
{
	int rc;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return -ENOMEM;
	session->table = s;
	session->adopted = true;
	session->directory = strdup(directory);
	presence_init(&session->presence);
	rc = session->directory ? meta_load(dir_fd, session) : -ENOMEM;
	bool ending = faccessat(dir_fd, "ending", F_OK, 0) == 0;
	/* Two of one id: nobody knows the one whose server was killed before it could say that it exists. */
	if (rc == 0 && sessions_find(s, session->id))
		ending = true;
	int link_fd = rc == 0 ? fcntl(dir_fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (rc == 0)
		rc = link_fd < 0 ? -errno
				 : link_init(&session->link, s->loop, link_fd,
					   &session_link_callbacks, session);
	if (rc < 0) {
		if (link_fd >= 0)
			close(link_fd);
		session_free(session);
		return rc;
	}
	session->state = ending ? SESSION_ENDING : SESSION_STARTING;
	if (ending)
		DL_APPEND(s->ending, session);
	else
		HASH_ADD_STR(s->table, id, session);
	rc = link_adopt(&session->link);
	if (rc < 0)
		session_release(s, session, false);
	return rc;
}

static bool is_known(const struct sessions *s, const char *directory)
{
	const struct session *session;
	for (session = s->table; session; session = session->hh.next)
		if (strcmp(session->directory, directory) == 0)
			return true;
	DL_FOREACH (s->ending, session)
		if (strcmp(session->directory, directory) == 0)
			return true;
	return false;
}

/* Returns 1 when a session was found, 0 when there was none to find, -EAGAIN when it is too early to say. */
static int adopt_or_clear(struct sessions *s, const char *directory)
{
	if (is_known(s, directory))
		return 0;
	int fd = openat(s->dir_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	int rc = adopt(s, directory, fd);
	bool nobody = rc == -ECONNREFUSED || rc == -ENOENT;
	/* A holder whose server was killed while it started holds the lock but has no socket yet. */
	bool starting = nobody && flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	if (nobody && !starting)
		session_remove_directory(s, directory);
	else if (rc < 0 && !starting)
		s->callbacks->failed(s->user, directory, "cannot adopt a session", rc);
	return rc == 0 ? 1 : starting ? -EAGAIN : 0;
}

static void on_rescan(uv_timer_t *timer)
{
	sessions_adopt(timer->data);
}

int sessions_adopt(struct sessions *s)
{
	int found = 0;
	bool again = false;
	int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		int rc = adopt_or_clear(s, entry->d_name);
		found += rc > 0;
		again |= rc == -EAGAIN;
	}
	closedir(dir);
	if (again && s->rescans++ < RESCANS_MAX)
		uv_timer_start(&s->rescan, on_rescan, RESCAN_MS, 0);
	return found;
}

bool sessions_adopting(const struct sessions *s)
{
	const struct session *session;
	if (uv_is_active((const uv_handle_t *)&s->rescan))
		return true;
	for (session = s->table; session; session = session->hh.next)
		if (session->adopted && session->state == SESSION_STARTING)
			return true;
	return false;
}
