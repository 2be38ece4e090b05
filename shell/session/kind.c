/* A session as a held object, see shell/held/held.h. follow.c handles the holder's reports. */
#include "shell/held/ending.h"
#include "shell/held/table.h"
#include "shell/session/internal.h"
#include "shell/session/meta.h"
#include "shell/store/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct sessions *sessions_of(const struct held_table *t)
{
	return t->user;
}

static void report_error(struct held_table *t, const char *id, const char *what, int error)
{
	const struct sessions *s = sessions_of(t);
	s->callbacks->failed(s->user, id, what, error);
}

static void on_sweep(struct held_table *t)
{
	sessions_sweep(sessions_of(t));
}

static void on_regained(struct held *h)
{
	sessions_of(h->table)->counters.holders_regained++;
}

static void on_terminal(struct held *h, const char *path)
{
	exec_error_terminal_opened(&session_of_held(h)->executor, path);
}

static void on_closed(struct held *h)
{
	session_free(session_of_held(h));
}

static int load(struct held_table *t, const char *directory, int dir_fd, struct held **ret_held)
{
	struct session *session = calloc(1, sizeof *session);
	int rc = -ENOMEM;
	if (!session)
		goto err_fd;
	session_init_commands(session, sessions_of(t));
	presence_init(&session->presence);
	rc = meta_load(dir_fd, session);
	if (rc < 0)
		goto err_session;
	rc = held_init(&session->pane.held, t, directory, dir_fd);
	if (rc < 0) {
		session_free(session);
		return rc;
	}
	*ret_held = &session->pane.held;
	return 0;
err_session:
	session_free(session);
err_fd:
	close(dir_fd);
	return rc;
}

static void on_found(struct held *h)
{
	session_move(
		session_of_held(h), h->place == HELD_ENDING ? SESSION_ENDING : SESSION_STARTING);
}

static void continue_end(struct held *h)
{
	/* The holder must be attached to before it can be asked. */
	held_end(h, SESSIONS_KILL_GRACE_MS + REMOVAL_WAIT_MS);
}

static bool is_awaited(const struct held *h)
{
	return session_of_held(h)->state == SESSION_STARTING;
}

static void on_holder_died(struct held *h)
{
	sessions_end(sessions_of(h->table), session_of_held(h), NULL);
}

static void on_changed(struct held *h)
{
	sessions_changed(sessions_of(h->table));
}

static void on_ended(struct held *h)
{
	struct sessions *s = sessions_of(h->table);
	s->counters.ended++;
	held_answer_waiters(&h->end_waiters, h, REPORT_READY, 0);
	sessions_remove(s, session_of_held(h));
}

static void on_release(struct held *h)
{
	session_release(session_of_held(h));
}

#define IN_SHELL(name) DIRECTORY_SHELL "/" name, DIRECTORY_SHELL "/" name ".new"

static const char *const files[] = {WIRE_SOCKET, "meta.json", "meta.json.new", HELD_ENDING_FILE,
	HELD_ENDING_SHELL_FILE, IN_SHELL("init.bash"), IN_SHELL(".zshenv"), IN_SHELL("init.fish"),
	"execs", "execs.new", "blocks", "blocks.new", NULL};

static const char *const shared[] = {DIRECTORY_SHELL "/init.bash", DIRECTORY_SHELL "/.zshenv",
	DIRECTORY_SHELL "/init.fish", NULL};

const struct held_kind session_kind = {
	.folder = "sessions",
	.shared = shared,
	.group = "session-",
	.files = files,
	.prefix = "input.", /* input of commands */
	.cannot_adopt = "cannot adopt a session",
	.cannot_remove = "cannot remove a session's directory",
	.report_error = report_error,
	.sweep = on_sweep,
	.take_turn = session_take_turn,
	.attached = session_on_attached,
	.failed = session_on_failed,
	.lost = session_on_lost,
	.regained = on_regained,
	.terminal = on_terminal,
	.closed = on_closed,
	.load = load,
	.found = on_found,
	.continue_end = continue_end,
	.is_awaited = is_awaited,
	.holder_died = on_holder_died,
	.changed = on_changed,
	.ended = on_ended,
	.release = on_release,
};
