/*
 * Adopting what an earlier server has left running. A directory without a holder is removed, with the processes that
 * this has left behind; one that was being ended is ended again, and one whose holder is still starting is looked at
 * later. A holder that does not answer, for it has been stopped, is not waited for: its session is adopted when it does.
 */
#include "shell/store/directory.h"
#include "shell/session/meta.h"
#include "shell/held/remains.h"
#include "shell/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define RESCAN_MS 20u /* for holders whose server was killed while they started */
#define RESCANS_MAX 500u

/* Attach to the holder of a directory, which may be one that is to be ended. */
static int adopt(void *user, const char *directory, int dir_fd)
{
	struct sessions *s = user;
	int rc;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return -ENOMEM;
	session_init_commands(session, s);
	session->pane.held.table = &s->held;
	session->pane.held.adopted = true;
	session->pane.held.found_ms = uv_now(s->loop);
	session->pane.held.directory = strdup(directory);
	presence_init(&session->presence);
	rc = session->pane.held.directory ? meta_load(dir_fd, session) : -ENOMEM;
	bool ending = faccessat(dir_fd, "ending", F_OK, 0) == 0;
	/* Two of one id: nobody knows the one whose server was killed before it could say that it exists. */
	if (rc == 0 && sessions_find(s, session->pane.held.id))
		ending = true;
	int link_fd = rc == 0 ? fcntl(dir_fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (rc == 0)
		rc = link_fd < 0 ? -errno
				 : link_init(&session->pane.held.link, s->loop, link_fd,
					   &session_link_callbacks, session);
	if (rc < 0) {
		if (link_fd >= 0)
			close(link_fd);
		session_free(session);
		return rc;
	}
	session_move(session, ending ? SESSION_ENDING : SESSION_STARTING);
	if (ending)
		DL_APPEND(s->ending, session);
	else
		HASH_ADD_STR(s->table, pane.held.id, session);
	rc = link_adopt(&session->pane.held.link);
	if (rc < 0 && rc != -EAGAIN) {
		session_release(s, session, false);
		return rc;
	}
	if (ending)
		session_begin_end(session, true);
	else if (rc == -EAGAIN || removal_is_stopped(link_holder(&session->pane.held.link)))
		session_call_unresponsive(session);
	return 0;
}

void session_call_unresponsive(struct session *session)
{
	struct sessions *s = session->table;
	session->pane.held.unresponsive = true;
	s->callbacks->failed(
		s->user, session->pane.held.id, "its holder does not answer", -EHOSTDOWN);
	session_answer(&session->waiters, session, REPORT_SETUP, -EHOSTDOWN);
	sessions_changed(s);
}

void sessions_look_again(struct sessions *s)
{
	struct session *session, *next;
	HASH_ITER (hh, s->table, session, next) {
		if (!session->pane.held.adopted || session->state != SESSION_STARTING)
			continue;
		int rc = session->pane.held.link.state == LINK_IDLE
			? link_adopt(&session->pane.held.link)
			: 0;
		if (rc == -ECONNREFUSED || rc == -ENOENT) {
			session->pane.held.holder_lost = true;
			sessions_end(s, session, NULL);
		} else if (!session->pane.held.unresponsive &&
			uv_now(s->loop) > session->pane.held.found_ms + LINK_SILENT_MS) {
			session_call_unresponsive(session);
		}
	}
}

static bool is_known(void *user, const char *directory)
{
	const struct sessions *s = user;
	const struct session *session;
	for (session = s->table; session; session = session->hh.next)
		if (strcmp(session->pane.held.directory, directory) == 0)
			return true;
	DL_FOREACH (s->ending, session)
		if (strcmp(session->pane.held.directory, directory) == 0)
			return true;
	return remains_has(&s->removals, directory);
}

static void on_cleared(void *user, const char *name, int error)
{
	struct sessions *s = user;
	if (error == 0)
		session_remove_directory(s, name);
	else
		s->callbacks->failed(s->user, name, "some of its processes survive", error);
}

/* Its holder has died while there was no server. */
static void remove_directory(void *user, const char *name)
{
	struct sessions *s = user;
	int rc = remains_add(&s->removals, name, on_cleared, s);
	if (rc < 0)
		s->callbacks->failed(s->user, name, "cannot clear up after a session", rc);
}

static void on_failed(void *user, const char *name, int error)
{
	const struct sessions *s = user;
	s->callbacks->failed(s->user, name, "cannot adopt a session", error);
}

static void on_rescan(uv_timer_t *timer)
{
	sessions_adopt(timer->data);
}

int sessions_adopt(struct sessions *s)
{
	const struct directory_owner owner = {.is_known = is_known,
		.adopt = adopt,
		.remove = remove_directory,
		.failed = on_failed,
		.user = s};
	bool again;
	int found = directory_adopt_all(s->dir_fd, &owner, &again);
	if (again && s->rescans++ < RESCANS_MAX)
		uv_timer_start(&s->rescan, on_rescan, RESCAN_MS, 0);
	return found;
}

void sessions_put_off(struct sessions *s, bool put_off)
{
	s->adopting = put_off;
	turns_put_off(&s->held.turns, put_off);
}

bool sessions_adopting(const struct sessions *s)
{
	const struct session *session;
	if (uv_is_active((const uv_handle_t *)&s->rescan))
		return true;
	for (session = s->table; session; session = session->hh.next)
		if (session->pane.held.adopted && session->state == SESSION_STARTING &&
			!session->pane.held.unresponsive)
			return true;
	return false;
}
