/*
 * The life of sessions. Steps of a start: directory, meta.json, holder, attach; after a crash in between, the next
 * server removes the directory without a holder. Steps of an end: the marker "ending", the holder's work, the removal
 * of the directory; after a crash in between, the next server ends it again.
 */
#include "shell/session/internal.h"

#include "shell/bounds.h"
#include "shell/clock.h"
#include "shell/descriptors.h"
#include "shell/store/directory.h"
#include "shell/environment.h"
#include "shell/exec/shell_arguments.h"
#include "shell/id.h"
#include "shell/held/adoption.h"
#include "shell/held/ending.h"
#include "shell/own_error.h"
#include "shell/store/file.h"
#include "shell/session/launch.h"
#include "shell/session/meta.h"
#include "shell/wait/wait.h"
#include "shell/words.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define LOGS_A_SWEEP 16u /* written again in one sweep */
/* The control page, and space for checkpoints, which costs nothing until it is written. */
#define CONTROL_SIZE ((size_t)16 << 20)

void sessions_changed(struct sessions *s)
{
	if (!s->held.closing)
		s->callbacks->changed(s->user);
}

static struct session *session_or_null(const struct held *h)
{
	return h ? session_of_held(h) : NULL;
}

struct session *sessions_find(const struct sessions *s, const char *id)
{
	return session_or_null(held_find(&s->held, id));
}

struct session *session_next(const struct sessions *s, const struct session *session)
{
	return session_or_null(held_next(&s->held, session ? &session->pane.held : NULL));
}

unsigned sessions_count(const struct sessions *s)
{
	return held_count(&s->held);
}

bool sessions_are_idle(const struct sessions *s)
{
	return held_table_is_idle(&s->held);
}

void session_free(struct session *session)
{
	held_finish(&session->pane.held);
	budget_leave(&session->pane);
	free(session->pane.cwd);
	free(session->pane.shell);
	words_free(session->argv);
	words_free(session->shell_arguments);
	free(session);
}

static void on_waited(struct held_waiter *held, struct held *h, enum report_stage stage, int error)
{
	struct session_waiter *w = (struct session_waiter *)((uintptr_t)held -
		offsetof(struct session_waiter, held));
	w->done(w->user, session_of_held(h), stage, error);
}

static struct held_waiter *held_waiter_of(struct session_waiter *w)
{
	if (!w)
		return NULL;
	w->held.done = on_waited;
	return &w->held;
}

/* Creation */

/* The initial environment: the session's id, the server's socket, and the requested variables. NULL: no memory. */
static char **make_environment(struct sessions *s, const struct session_options *o)
{
	char *const *base = s->config.environment;
	char **named = environment_with(base, "RINGSIDE_SESSION", o->id), **placed = NULL;
	char **environment = NULL;
	if (named && s->config.socket)
		placed = environment_with(named, "RINGSIDE_SOCKET", s->config.socket);
	if (placed || (named && !s->config.socket))
		environment = environment_create(
			placed ? placed : named, o->env_names, o->env_values, o->env_count);
	words_free(placed);
	words_free(named);
	return environment;
}

static int spawn(struct sessions *s, struct session *session, const struct session_options *o)
{
	char directory[PATH_MAX];
	if ((size_t)snprintf(directory, sizeof directory, "%s/sessions/%s", s->config.runtime_dir,
		    session->pane.held.directory) >= sizeof directory)
		return -ENAMETOOLONG;
	char **environment = make_environment(s, o);
	struct launch *launch = malloc(sizeof *launch);
	int rc = launch && environment ? launch_prepare(session, directory, &environment, launch)
				       : -ENOMEM;
	if (rc < 0)
		goto out;
	environment = bounds_hide_environment(environment);
	rc = environment ? 0 : -ENOMEM;
	if (rc < 0)
		goto out;
	struct spawn_options options = {
		.holder = s->config.holder,
		.dir_fd = session->pane.held.link.dir_fd,
		.cwd = session->pane.cwd,
		.argv = session->argv ? session->argv : launch->argv,
		.envp = environment,
		.rows = session->pane.rows,
		.cols = session->pane.cols,
		.ring_size = s->config.ring_size,
		.control_size = CONTROL_SIZE,
		.ttl_s = s->config.ended_ttl_s,
		.nofile = s->config.nofile,
		.tasks = s->config.bounds->tasks,
		.memory = s->config.bounds->memory,
		.respawn = session->on_shell_exit == SHELL_EXIT_RESPAWN,
		/* A command cannot be typed into a stopped terminal. */
		.no_flow = exec_is_possible(&session->executor),
	};
	rc = held_start(&session->pane.held, &options);
out:
	words_free(environment);
	free(launch);
	return rc;
}

/* Create a session in state starting, in the table, without a holder yet. */
static int begin(struct sessions *s, const struct session_options *o, struct session **ret_session)
{
	char directory[DIRECTORY_NAME_SIZE];
	int dir_fd = -1, rc;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return -ENOMEM;
	session_init_commands(session, s);
	session->pane.rows = o->rows ? o->rows : 24;
	session->pane.cols = o->cols ? o->cols : 80;
	budget_resized(&session->pane);
	session->created_ms = session->pane.activity_ms = clock_wall_ms();
	session->idle_timeout_ms = o->idle_timeout_ms;
	session->on_shell_exit = o->on_shell_exit;
	session->executor.history = o->history;
	session->pane.unicode = o->unicode;
	session->pane.cwd = strdup(o->cwd ? o->cwd : s->config.cwd);
	session->pane.shell = strdup(o->argv ? o->argv[0] : o->shell ? o->shell : "bash");
	session->argv = o->argv ? words_copy(o->argv) : NULL;
	snprintf(session->pane.held.id, sizeof session->pane.held.id, "%s", o->id);
	snprintf(session->name, sizeof session->name, "%s", o->name ? o->name : o->id);
	presence_init(&session->presence);
	session->shell_arguments = o->shell_arguments ? words_copy(o->shell_arguments) : NULL;
	rc = session->pane.cwd && session->pane.shell && (session->argv || !o->argv) &&
			(session->shell_arguments || !o->shell_arguments)
		? 0
		: -ENOMEM;
	if (rc == 0 && !session->argv)
		session->executor.shell = shell_arguments_shell(
			session->pane.shell, o->shell_arguments);
	if (rc == 0 && session->executor.shell != INTEGRATION_NONE)
		rc = exec_make_nonce(&session->executor);
	if (rc == 0)
		rc = directory_create(s->held.dir_fd, session->pane.held.id, directory, &dir_fd);
	if (rc < 0)
		goto err_session;
	rc = held_init(&session->pane.held, &s->held, directory, dir_fd);
	if (rc < 0)
		goto err_directory;
	rc = held_add(&session->pane.held, HELD_LISTED);
	if (rc < 0) {
		held_remove_directory(&s->held, directory);
		s->held.kind->release(&session->pane.held);
		return rc;
	}
	*ret_session = session;
	return 0;
err_directory:
	held_remove_directory(&s->held, directory);
err_session:
	session_free(session);
	return rc;
}

int sessions_create(
	struct sessions *s, const struct session_options *o, struct session_waiter *waiter)
{
	struct session *session = sessions_find(s, o->id), *replaced = NULL;
	if (session && session->state != SESSION_EXITED)
		return -EEXIST;
	if (s->draining)
		return -ERR_DRAINING;
	if (!name_is_id(o->id) || (o->name && !name_is_text(o->name)) ||
		o->rows > PRESENCE_SIDE_MAX || o->cols > PRESENCE_SIDE_MAX)
		return -EINVAL;
	if (o->on_shell_exit == SHELL_EXIT_REEXEC &&
		(o->argv ||
			shell_arguments_shell(o->shell ? o->shell : "bash", o->shell_arguments) !=
				INTEGRATION_BASH))
		return -ENOTSUP;
	int rc = o->cwd ? directory_check_cached(&o->found, o->cwd) : directory_check(s->config.cwd);
	if (rc < 0)
		return rc;
	replaced = session;
	if (!replaced && sessions_count(s) >= s->config.max_sessions)
		return -ERR_LIMIT;
	if (!budget_allows(&s->screens, replaced ? &replaced->pane : NULL, o->rows, o->cols))
		return -ERR_SCREEN_BUDGET;
	rc = held_check_runtime_directory(&s->held);
	if (rc == 0)
		rc = descriptors_check(s->held.dir_fd);
	if (rc < 0)
		return rc;
	if (replaced)
		sessions_end(s, replaced, NULL);
	rc = begin(s, o, &session);
	if (rc < 0)
		return rc;
	rc = meta_save(session->pane.held.link.dir_fd, session);
	if (rc == 0)
		rc = spawn(s, session, o);
	if (rc < 0) {
		s->counters.start_failures++;
		sessions_remove(s, session);
		return rc;
	}
	held_add_waiter(&session->pane.held.start_waiters, held_waiter_of(waiter));
	sessions_changed(s);
	return 0;
}

int sessions_get_or_create(struct sessions *s, const struct session_options *o,
	struct session_waiter *waiter, bool *ret_created)
{
	struct session *session = sessions_find(s, o->id);
	*ret_created = !session;
	if (!session)
		return sessions_create(s, o, waiter);
	if (session->state == SESSION_STARTING && session->pane.held.unresponsive)
		return -ERR_UNRESPONSIVE;
	if (session->state == SESSION_STARTING)
		held_add_waiter(&session->pane.held.start_waiters, held_waiter_of(waiter));
	else
		waiter->done(waiter->user, session, REPORT_READY, 0);
	return 0;
}

int sessions_get_or_replace(struct sessions *s, const char *id, struct session_waiter *waiter)
{
	const struct session *session = sessions_find(s, id);
	const struct session_options o = {.id = id};
	bool created;
	if (session && session->state == SESSION_EXITED)
		return sessions_create(s, &o, waiter);
	return sessions_get_or_create(s, &o, waiter, &created);
}

/* End */

/* Take a session out of its table, tell its viewers, and free it later. */
void session_release(struct session *session)
{
	struct session_viewer *v, *next;
	pane_recall_screen(&session->pane);
	held_release(&session->pane.held);
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		v->gone(v->user, false);
	}
	session_close_commands(session);
	if (session->pane.history_open) {
		pane_close_screen(&session->pane);
		history_finish(&session->pane.history);
	}
	session->pane.history_open = false;
	held_close(&session->pane.held);
}

void sessions_remove(struct sessions *s, struct session *session)
{
	held_remove_directory(&s->held, session->pane.held.directory);
	session_release(session);
	sessions_changed(s);
}

void sessions_end(struct sessions *s, struct session *session, struct session_waiter *waiter)
{
	struct held *h = &session->pane.held;
	struct session_viewer *v, *next;
	assert(session->state != SESSION_ENDING);
	bool starting = session->state == SESSION_STARTING;
	session_move(session, SESSION_ENDING);
	held_begin_end(h, held_waiter_of(waiter));
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		presence_leave(&session->presence, &v->attendee);
		v->gone(v->user, true);
	}
	sessions_changed(s);
	if (h->taken) {
		held_answer_waiters(&h->end_waiters, h, REPORT_READY, 0);
		session_release(session);
		return;
	}
	/* A holder that is starting must be attached to before it can be asked. */
	bool asked = starting || held_ask_to_end(h, SESSIONS_KILL_GRACE_MS);
	held_end(h, asked ? SESSIONS_KILL_GRACE_MS + REMOVAL_WAIT_MS : 0);
}

void sessions_end_all(struct sessions *s)
{
	struct session *session, *next = session_next(s, NULL);
	while ((session = next)) {
		next = session_next(s, session);
		sessions_end(s, session, NULL);
	}
}

static bool is_no_space(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EMFILE || error == -ENFILE ||
		error == -ENOMEM;
}

/*
 * Retry writes that failed before. If there is no space for one session, there is none for the next. Few are done at
 * once.
 */
static void catch_up_logs(struct sessions *s)
{
	unsigned left = LOGS_A_SWEEP;
	int rc = 0;
	for (struct session *session = NULL; (session = session_next(s, session));) {
		if (exec_log_catch_up(&session->executor, &rc))
			left--;
		if (left > 0 && !is_no_space(rc) && blocks_log_catch_up(&session->blocks, &rc))
			left--;
		if (left == 0 || is_no_space(rc))
			return;
	}
}

void sessions_sweep(struct sessions *s)
{
	struct session *session, *next = session_next(s, NULL);
	while ((session = next)) {
		next = session_next(s, session);
		bool running = session->state == SESSION_RUNNING;
		/* Clients of an earlier server have the full timeout to come back: it starts with the adoption. */
		bool is_idle = running && session->idle_timeout_ms > 0 &&
			session->presence.count == 0 &&
			pane_now(&session->pane) - session->pane.active_ms >=
				session->idle_timeout_ms;
		bool is_expired = session->state == SESSION_EXITED && s->config.ended_ttl_s > 0 &&
			clock_age_ms(session->exited_boot_ms) >
				(uint64_t)s->config.ended_ttl_s * 1000;
		session_update_lease(session);
		if (is_idle || is_expired)
			sessions_end(s, session, NULL);
	}
	catch_up_logs(s);
	if (descriptors_should_warn(s->held.dir_fd, &s->few_descriptors))
		s->callbacks->failed(s->user, "",
			"few descriptors are left, raise their limit (ulimit -n, LimitNOFILE)",
			-EMFILE);
}

/* Opening and closing the table */

struct held_trust sessions_trust(const struct sessions *s)
{
	return (struct held_trust){.lock = &s->lock, .runtime_dir = s->config.runtime_dir};
}

int sessions_open(struct sessions *s, uv_loop_t *loop, const struct sessions_config *config,
	const struct sessions_callbacks *callbacks, void *user)
{
	*s = (struct sessions){
		.config = *config, .callbacks = callbacks, .user = user, .loop = loop};
	s->screens.limit = config->screen_memory;
	if (!s->config.bounds)
		s->config.bounds = &bounds_none;
	int runtime_fd = open(config->runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runtime_fd < 0)
		return -errno;
	int rc = config->lock
		? runtime_lock_take_over(&s->lock, config->lock->fd, config->lock->name_fd)
		: runtime_lock_acquire(&s->lock, runtime_fd);
	if (rc < 0)
		goto out;
	rc = held_table_open(&s->held, loop, &session_kind, s, runtime_fd);
	s->held.bounds = s->config.bounds;
	if (rc == 0 && config->lock)
		held_adopt_children(&s->held);
	if (rc == 0)
		rc = bounds_allow_traverse(s->config.bounds, s->held.dir_fd);
	if (rc < 0) {
		runtime_lock_release(&s->lock);
		goto out;
	}
	s->held.trust = sessions_trust(s);
	executors_open(&s->executors, loop, s->config.runtime_dir, s->config.holder,
		&session_executor_callbacks);
	s->waits.loop = loop;
	if (config->threads > 0 && !(s->workers = workers_open(loop, config->threads)))
		callbacks->failed(user, "",
			"cannot start threads for screens: the event loop draws them", -EAGAIN);
out:
	close(runtime_fd);
	return rc;
}

void sessions_close(struct sessions *s)
{
	held_table_close(&s->held);
	workers_close(s->workers);
	executors_close(&s->executors);
	runtime_lock_release(&s->lock);
}

int sessions_adopt(struct sessions *s)
{
	return held_adopt(&s->held);
}

bool sessions_are_adopting(const struct sessions *s)
{
	return held_is_adopting(&s->held);
}

unsigned sessions_unsettled(const struct sessions *s)
{
	unsigned count = 0;
	for (struct session *session = NULL; (session = session_next(s, session));)
		count += !session_is_settled(session);
	return count;
}

void sessions_suspend(struct sessions *s, bool suspend)
{
	s->adopting = suspend;
	turns_suspend(&s->held.turns, suspend);
}
