/*
 * The life of sessions. The order of things at a start: directory, meta.json, holder, attach; a crash in
 * between leaves a directory without a holder, which the next server removes. At an end: the marker
 * "ending", the holder's work, the directory; a crash in between lets the next server end it again.
 */
#include "shell/session/internal.h"

#include "shell/clock.h"
#include "shell/descriptors.h"
#include "shell/store/directory.h"
#include "shell/environment.h"
#include "shell/store/file.h"
#include "shell/session/meta.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define SWEEP_MS 1000u
#define LOGS_A_SWEEP 16u /* that are written anew */
#define CONTROL_SIZE \
	((size_t)16 << 20) /* the page, and room for checkpoints that costs nothing untouched */

void sessions_changed(struct sessions *s)
{
	if (!s->closing)
		s->callbacks->changed(s->user);
}

struct session *sessions_find(const struct sessions *s, const char *id)
{
	struct session *found;
	HASH_FIND_STR(s->table, id, found);
	return found;
}

unsigned sessions_count(const struct sessions *s)
{
	return HASH_COUNT(s->table);
}

bool sessions_idle(const struct sessions *s)
{
	const struct session *session;
	DL_FOREACH (s->ending, session)
		if (!session->pane.held.stuck)
			return false;
	return !s->table;
}

/* Creating */

/* The file that lets the shell run commands for programs; its path goes to path. */
static int write_init(struct sessions *s, struct session *session, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/sessions/%s/" INTEGRATION_FILE, s->config.runtime_dir,
		session->pane.held.directory);
	bool fits = n >= 0 && (size_t)n < size;
	bool again = session->on_shell_exit == SHELL_EXIT_REEXEC;
	char *text = fits ? integration_init(session->executor.nonce, again ? path : NULL) : NULL;
	int rc = !fits ? -ENAMETOOLONG
		: text
		? file_save(session->pane.held.link.dir_fd, INTEGRATION_FILE, text, strlen(text))
		: -ENOMEM;
	free(text);
	return rc;
}

static int spawn(struct sessions *s, struct session *session, const struct session_options *o)
{
	char init[PATH_MAX], rcfile[] = "--rcfile", interactive[] = "-i";
	char *shell_argv[] = {session->pane.shell, NULL, NULL, NULL, NULL};
	if (session->executor.possible) {
		int rc = write_init(s, session, init, sizeof init);
		if (rc < 0)
			return rc;
		shell_argv[1] = rcfile;
		shell_argv[2] = init;
		shell_argv[3] = interactive;
	}
	char **environment = environment_create(
		s->config.environment, o->env_names, o->env_values, o->env_count);
	if (!environment)
		return -ENOMEM;
	struct spawn_options options = {
		.holder = s->config.holder,
		.dir_fd = session->pane.held.link.dir_fd,
		.cwd = session->pane.cwd,
		.argv = shell_argv,
		.envp = environment,
		.rows = session->pane.rows,
		.cols = session->pane.cols,
		.ring_size = s->config.ring_size,
		.control_size = CONTROL_SIZE,
		.ttl_s = s->config.ended_ttl_s,
		.nofile = s->config.nofile,
		.mark = removal_mark(session->pane.held.directory),
		.respawn = session->on_shell_exit == SHELL_EXIT_RESPAWN,
	};
	int rc = link_start(&session->pane.held.link, &options, &s->reaper);
	environment_destroy(environment);
	return rc;
}

/* A session in the table, in state starting, whose holder has not been started. */
static int begin(struct sessions *s, const struct session_options *o, struct session **ret_session)
{
	char directory[DIRECTORY_NAME_SIZE];
	int dir_fd = -1, rc;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return -ENOMEM;
	session_init_commands(session, s);
	session->pane.held.table = &s->held;
	session->pane.rows = o->rows ? o->rows : 24;
	session->pane.cols = o->cols ? o->cols : 80;
	session->created_ms = session->pane.activity_ms = clock_wall_ms();
	session->idle_timeout_ms = o->idle_timeout_ms;
	session->on_shell_exit = o->on_shell_exit;
	session->pane.cwd = strdup(o->cwd ? o->cwd : s->config.cwd);
	session->pane.shell = strdup(o->shell ? o->shell : "bash");
	snprintf(session->pane.held.id, sizeof session->pane.held.id, "%s", o->id);
	snprintf(session->name, sizeof session->name, "%s", o->name ? o->name : o->id);
	presence_init(&session->presence);
	rc = session->pane.cwd && session->pane.shell ? 0 : -ENOMEM;
	if (rc == 0 && integration_is_possible(session->pane.shell))
		rc = exec_make_nonce(&session->executor);
	if (rc == 0)
		rc = directory_make(s->dir_fd, session->pane.held.id, directory, &dir_fd);
	if (rc < 0)
		goto err_session;
	session->pane.held.directory = strdup(directory);
	if (!session->pane.held.directory) {
		rc = -ENOMEM;
		close(dir_fd);
		goto err_directory;
	}
	rc = link_init(&session->pane.held.link, s->loop, dir_fd, &session_link_callbacks, session);
	if (rc < 0) {
		close(dir_fd);
		goto err_directory;
	}
	HASH_ADD_STR(s->table, pane.held.id, session);
	*ret_session = session;
	return 0;
err_directory:
	session_remove_directory(s, directory);
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
	if (!name_is_id(o->id) || (o->name && !name_is_text(o->name)) ||
		o->rows > PRESENCE_SIDE_MAX || o->cols > PRESENCE_SIDE_MAX)
		return -EINVAL;
	if (o->on_shell_exit == SHELL_EXIT_REEXEC && o->shell && !integration_is_possible(o->shell))
		return -ENOTSUP;
	int rc = directory_check(o->cwd ? o->cwd : s->config.cwd);
	if (rc < 0)
		return rc;
	replaced = session;
	if (!replaced && sessions_count(s) >= s->config.max_sessions)
		return -EUSERS;
	rc = descriptors_check(s->dir_fd);
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
		sessions_remove(s, session, false);
		return rc;
	}
	waiter->next = session->waiters;
	session->waiters = waiter;
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
		return -EHOSTDOWN;
	if (session->state == SESSION_STARTING) {
		waiter->next = session->waiters;
		session->waiters = waiter;
	} else {
		waiter->done(waiter->user, session, REPORT_READY, 0);
	}
	return 0;
}

/* Ending */

void sessions_end(struct sessions *s, struct session *session, struct session_waiter *waiter)
{
	struct session_viewer *v, *next;
	assert(session->state != SESSION_ENDING);
	int fd = openat(
		session->pane.held.link.dir_fd, "ending", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	HASH_DEL(s->table, session);
	bool starting = session->state == SESSION_STARTING;
	session_move(session, SESSION_ENDING);
	DL_APPEND(s->ending, session);
	if (waiter) {
		waiter->next = session->enders;
		session->enders = waiter;
	}
	session_answer(&session->waiters, session, REPORT_SETUP, -ECANCELED);
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		presence_leave(&session->presence, &v->attendee);
		v->gone(v->user, true);
	}
	sessions_changed(s);
	if (session->pane.held.taken) {
		session_answer(&session->enders, session, REPORT_READY, 0);
		session_release(s, session, true);
		return;
	}
	session_begin_end(session, starting);
}

void sessions_end_all(struct sessions *s)
{
	struct session *session, *next;
	HASH_ITER (hh, s->table, session, next)
		sessions_end(s, session, NULL);
}

static bool is_short(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EMFILE || error == -ENFILE ||
		error == -ENOMEM;
}

/*
 * What could not be written down may have room now. There is none for the others either when there is none for one;
 * and no tick takes long.
 */
static void catch_up_logs(struct sessions *s)
{
	struct session *session, *next;
	unsigned left = LOGS_A_SWEEP;
	int rc = 0;
	HASH_ITER (hh, s->table, session, next) {
		if (exec_log_catch_up(&session->executor, &rc))
			left--;
		if (left > 0 && !is_short(rc) && blocks_log_catch_up(&session->blocks, &rc))
			left--;
		if (left == 0 || is_short(rc))
			return;
	}
}

static void on_sweep(uv_timer_t *timer)
{
	struct sessions *s = timer->data;
	struct session *session, *next;
	uint64_t now = clock_wall_ms();
	HASH_ITER (hh, s->table, session, next) {
		bool running = session->state == SESSION_RUNNING;
		bool idles = running && session->idle_timeout_ms > 0 &&
			session->presence.count == 0 &&
			now > session->pane.activity_ms + session->idle_timeout_ms;
		bool expired = session->state == SESSION_EXITED && s->config.ended_ttl_s > 0 &&
			now > session->exited_ms + (uint64_t)s->config.ended_ttl_s * 1000;
		session_expire_lease(session);
		if (idles || expired)
			sessions_end(s, session, NULL);
	}
	sessions_look_again(s);
	catch_up_logs(s);
	if (descriptors_are_news(s->dir_fd, &s->few_descriptors))
		s->callbacks->failed(s->user, "",
			"few descriptors are left, raise their limit (ulimit -n, LimitNOFILE)",
			-EMFILE);
}

/* Opening and closing the table */

static int take_directory(struct sessions *s)
{
	int runtime_fd = open(s->config.runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runtime_fd < 0)
		return -errno;
	int rc = runtime_lock_take(&s->lock, runtime_fd);
	if (rc < 0)
		goto out;
	rc = mkdirat(runtime_fd, "sessions", 0700) < 0 && errno != EEXIST ? -errno : 0;
	if (rc == 0)
		s->dir_fd = openat(
			runtime_fd, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (rc == 0 && s->dir_fd < 0)
		rc = -errno;
	if (rc < 0)
		runtime_lock_release(&s->lock);
out:
	close(runtime_fd);
	return rc;
}

int sessions_open(struct sessions *s, uv_loop_t *loop, const struct sessions_config *config,
	const struct sessions_callbacks *callbacks, void *user)
{
	*s = (struct sessions){
		.config = *config, .callbacks = callbacks, .user = user, .loop = loop, .dir_fd = -1};
	int rc = take_directory(s);
	if (rc < 0)
		return rc;
	rc = reaper_open(&s->reaper, loop);
	if (rc < 0) {
		runtime_lock_release(&s->lock);
		close(s->dir_fd);
		return rc;
	}
	/* These cannot fail: they only link themselves into the loop. */
	s->held.loop = loop;
	turns_open(&s->held.turns, loop, session_take_turn);
	uv_timer_init(loop, &s->sweep);
	uv_timer_init(loop, &s->rescan);
	executors_open(&s->executors, loop, s->config.runtime_dir, &session_executor_callbacks);
	s->waits.loop = loop;
	removals_open(&s->removals, loop);
	s->sweep.data = s->rescan.data = s;
	uv_timer_start(&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	uv_unref((uv_handle_t *)&s->sweep);
	return 0;
}

void sessions_close(struct sessions *s)
{
	struct session *session, *next;
	s->closing = true;
	HASH_ITER (hh, s->table, session, next) {
		session_answer(&session->waiters, session, REPORT_SETUP, -ECANCELED);
		session_release(s, session, false);
	}
	DL_FOREACH_SAFE (s->ending, session, next) {
		session_answer(&session->enders, session, REPORT_READY, -ECANCELED);
		session_release(s, session, true);
	}
	removals_close(&s->removals);
	reaper_close(&s->reaper);
	turns_close(&s->held.turns);
	uv_close((uv_handle_t *)&s->sweep, NULL);
	uv_close((uv_handle_t *)&s->rescan, NULL);
	executors_close(&s->executors);
	runtime_lock_release(&s->lock);
	close(s->dir_fd);
}
