/*
 * The last part of a session's life: its holder is asked to end everybody and itself. What it does not do in time, or
 * cannot do any more, is done here: see shell/held/removal.h.
 */
#include "shell/session/internal.h"

static void on_removed(void *user, int error)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (error == 0) {
		s->counters.ended++;
		session_answer(&session->enders, session, REPORT_READY, 0);
		sessions_remove(s, session, true);
		return;
	}
	if (!session->pane.held.stuck)
		s->callbacks->failed(
			s->user, session->pane.held.id, "some of its processes survive", error);
	session->pane.held.stuck = true;
	session_answer(&session->enders, session, REPORT_READY, error);
	removal_start(&s->removals, &session->pane.held.removal, REMOVAL_AGAIN_MS);
}

void session_begin_end(struct session *session, bool starting)
{
	struct link *link = &session->pane.held.link;
	bool asked = starting ||
		(!session->pane.held.holder_lost && link_end(link, SESSIONS_KILL_GRACE_MS) == 0);
	session->pane.held.removal = (struct removal){.done = on_removed,
		.user = session,
		.dir_fd = link->dir_fd,
		.mark = removal_mark(session->pane.held.directory),
		.session = session->lost_ticks > 0 ? link->info.shell_pid : 0,
		.lost_ticks = session->lost_ticks,
		.holder = session->pane.held.holder_lost ? -1 : link_holder(link)};
	removal_start(&session->table->removals, &session->pane.held.removal,
		asked ? SESSIONS_KILL_GRACE_MS + REMOVAL_WAIT_MS : 0);
}

void session_end_orphans(struct session *session)
{
	session->pane.held.holder_lost = true;
	if (session->state == SESSION_ENDING)
		removal_force(&session->pane.held.removal);
	else
		sessions_end(session->table, session, NULL);
}

void session_on_ended(struct session *session, int error)
{
	if (session->state != SESSION_ENDING)
		return;
	if (error < 0) {
		removal_force(&session->pane.held.removal); /* perhaps we can */
		return;
	}
	removal_finish(&session->pane.held.removal);
	on_removed(session, 0);
}
