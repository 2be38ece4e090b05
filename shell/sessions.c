/*
 * The life of sessions. The order of things at a start: directory, meta.json, holder, attach; a crash in
 * between leaves a directory without a holder, which the next server removes. At an end: the marker
 * "ending", the holder's work, the directory; a crash in between lets the next server end it again.
 */
#include "shell/sessions.h"

#include "shell/clock.h"
#include "shell/environment.h"
#include "shell/meta.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define SWEEP_MS 1000u
#define RESCAN_MS 20u /* for holders whose server was killed while they started */
#define RESCANS_MAX 500u
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
	return !s->table && !s->ending;
}

/* Files */

static void remove_directory(struct sessions *s, const char *name)
{
	static const char *const files[] = {WIRE_SOCKET, WIRE_FIFO, WIRE_FIFO_STDOUT,
		WIRE_FIFO_STDERR, "meta.json", "meta.json.new", "ending"};
	int fd = openat(s->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlinkat(fd, files[i], 0);
	close(fd);
	if (unlinkat(s->dir_fd, name, AT_REMOVEDIR) < 0)
		s->callbacks->failed(s->user, "", "cannot remove a session's directory", -errno);
}

/* A new directory for id; its name and descriptor go to the session. Returns 0 or a negative errno. */
static int make_directory(struct sessions *s, struct session *session, int *ret_fd)
{
	uint64_t random;
	char name[NAME_ID_MAX + 32];
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return -errno;
	snprintf(name, sizeof name, "%s+%016llx", session->id, (unsigned long long)random);
	session->directory = strdup(name);
	if (!session->directory)
		return -ENOMEM;
	if (mkdirat(s->dir_fd, name, 0700) < 0)
		return -errno;
	int fd = openat(s->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* The holder inherits this lock: as long as it lives, or is being started, nobody clears up here. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int rc = -errno;
		if (fd >= 0)
			close(fd);
		unlinkat(s->dir_fd, name, AT_REMOVEDIR);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

/* Memory */

static void free_session(struct session *session)
{
	free(session->directory);
	free(session->cwd);
	free(session->shell);
	free(session);
}

static void on_link_closed(void *user)
{
	free_session(user);
}

static void answer(
	struct session_waiter **list, struct session *session, enum report_stage stage, int error)
{
	while (*list) {
		struct session_waiter *w = *list;
		*list = w->next;
		w->done(w->user, session, stage, error);
	}
}

static void forget_busy(struct sessions *s, struct session *session)
{
	struct session **at = &s->busy;
	while (*at && *at != session)
		at = &(*at)->next_busy;
	if (*at)
		*at = session->next_busy;
	session->busy = false;
}

/* Take a session out of everything and release it. Its viewers and waiters are told. */
static void release(struct sessions *s, struct session *session, bool deleted)
{
	struct session_viewer *v, *next;
	if (session->state == SESSION_ENDING)
		DL_DELETE(s->ending, session);
	else
		HASH_DEL(s->table, session);
	forget_busy(s, session);
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		v->gone(v->user, deleted);
	}
	if (session->history_open)
		history_finish(&session->history);
	session->history_open = false;
	link_close(&session->link, on_link_closed);
}

void sessions_remove(struct sessions *s, struct session *session, bool deleted)
{
	remove_directory(s, session->directory);
	release(s, session, deleted);
	sessions_changed(s);
}

/* The holder's end of things */

static void note_exit(struct session *session)
{
	struct sessions *s = session->table;
	if (session->state != SESSION_RUNNING || !session->history.ended)
		return;
	const struct ring_header *header = session->link.ring.header;
	bool recorded = atomic_load(&header->exited);
	session->state = SESSION_EXITED;
	session->exited_ms = recorded ? header->exit_time_ns / 1000000 : clock_wall_ms();
	session->exit_status = recorded ? header->exit_status : 0;
	session->end = !recorded                    ? SESSION_END_HOLDER_DIED
		: WIFSIGNALED(session->exit_status) ? SESSION_END_SIGNAL
						    : SESSION_END_EXITED;
	s->counters.exited++;
	sessions_changed(s);
}

/* Consume a turn's worth and let the viewers have it. */
static void consume(struct session *session)
{
	struct sessions *s = session->table;
	struct session_viewer *v, *next;
	uint64_t before = session->history.scan.offset;
	bool more = history_consume(&session->history, SESSION_TURN, session->holder_lost);
	uint64_t now = session->history.scan.offset;
	if (!session->holder_lost)
		link_consumed(&session->link, history_consumed(&session->history),
			session->history.events_offset);
	if (now != before) {
		s->counters.bytes_out += now - before;
		session->activity_ms = clock_wall_ms();
	}
	note_exit(session);
	DL_FOREACH_SAFE (session->viewers, v, next)
		v->more(v->user);
	if (session->holder_lost)
		more = more || (session->state == SESSION_RUNNING && !session->history.ended);
	else if (!more)
		more = !link_sleep(&session->link, now, session->history.events_offset);
	if (more)
		sessions_make_busy(s, session);
}

void sessions_make_busy(struct sessions *s, struct session *session)
{
	if (session->busy)
		return;
	session->busy = true;
	session->next_busy = NULL;
	struct session **end = &s->busy;
	while (*end)
		end = &(*end)->next_busy;
	*end = session;
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* its being active is its purpose */
}

/* One turn for each busy session, then the loop looks at everything else. */
static void on_prepare(uv_prepare_t *prepare)
{
	struct sessions *s = prepare->data;
	struct session *turn = s->busy;
	s->busy = NULL;
	while (turn) {
		struct session *session = turn;
		turn = session->next_busy;
		session->busy = false;
		if (session->history_open)
			consume(session);
	}
	if (s->busy)
		uv_idle_start(&s->idle, on_idle);
	else
		uv_idle_stop(&s->idle);
}

static void on_wake(void *user)
{
	struct session *session = user;
	if (session->history_open && !session->busy)
		consume(session);
}

static void on_attached(void *user)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (session->state == SESSION_ENDING) {
		if (link_end(&session->link, SESSIONS_KILL_GRACE_MS) < 0)
			sessions_remove(s, session, true);
		return;
	}
	int rc = history_init(&session->history, &session->link.ring, session->link.control);
	if (rc < 0) {
		s->counters.start_failures++;
		s->callbacks->failed(s->user, session->id, "no memory for its history", rc);
		answer(&session->waiters, session, REPORT_SETUP, rc);
		release(s, session, false);
		return;
	}
	session->history_open = true;
	if (session->adopted)
		history_catch_up(&session->history);
	uint32_t geometry = atomic_load(&session->link.ring.header->geometry);
	session->rows = geometry >> 16;
	session->cols = geometry & 0xffff;
	session->state = SESSION_RUNNING;
	session->activity_ms = clock_wall_ms();
	s->counters.adopted += session->adopted;
	s->counters.created += !session->adopted;
	sessions_changed(s);
	consume(session);
	answer(&session->waiters, session, REPORT_READY, 0);
}

static void on_failed(void *user, enum report_stage stage, int error)
{
	struct session *session = user;
	struct sessions *s = session->table;
	s->counters.start_failures++;
	if (!session->waiters)
		s->callbacks->failed(s->user, session->id, "cannot attach to its holder", error);
	answer(&session->waiters, session, stage, error);
	answer(&session->enders, session, stage, 0);
	sessions_remove(s, session, false);
}

static void on_lost(void *user, bool taken)
{
	struct session *session = user;
	struct sessions *s = session->table;
	session->holder_lost = true;
	if (session->state == SESSION_ENDING || session->state == SESSION_EXITED) {
		/* Asked for, or its time to live has passed. */
		answer(&session->enders, session, REPORT_READY, 0);
		sessions_remove(s, session, true);
		return;
	}
	s->counters.holders_lost++;
	s->callbacks->failed(s->user, session->id,
		taken ? "another server has taken it" : "its holder has died", -ECONNRESET);
	if (session->history_open)
		sessions_make_busy(s, session);
}

static void on_ended(void *user, int error)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (session->state != SESSION_ENDING)
		return;
	s->counters.ended++;
	if (error < 0)
		s->callbacks->failed(s->user, session->id, "some of its processes survive", error);
	answer(&session->enders, session, REPORT_READY, error);
	sessions_remove(s, session, true);
}

static const struct link_callbacks link_callbacks = {
	.attached = on_attached,
	.failed = on_failed,
	.wake = on_wake,
	.lost = on_lost,
	.ended = on_ended,
};

/* Creating */

static int check_cwd(const char *cwd)
{
	struct stat st;
	if (cwd[0] != '/')
		return -EINVAL;
	if (stat(cwd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(cwd, X_OK) < 0 ? -errno : 0;
}

static int spawn(struct sessions *s, struct session *session, const struct session_options *o)
{
	char *shell_argv[] = {session->shell, NULL};
	char **environment = environment_create(
		s->config.environment, o->env_names, o->env_values, o->env_count);
	if (!environment)
		return -ENOMEM;
	struct spawn_options options = {
		.holder = s->config.holder,
		.dir_fd = session->link.dir_fd,
		.cwd = session->cwd,
		.argv = shell_argv,
		.envp = environment,
		.rows = session->rows,
		.cols = session->cols,
		.ring_size = s->config.ring_size,
		.control_size = CONTROL_SIZE,
		.ttl_s = s->config.ended_ttl_s,
		.nofile = s->config.nofile,
	};
	int rc = link_start(&session->link, &options, &s->reaper);
	environment_destroy(environment);
	return rc;
}

/* A session in the table, in state starting, whose holder has not been started. */
static int begin(struct sessions *s, const struct session_options *o, struct session **ret_session)
{
	int dir_fd = -1, rc;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return -ENOMEM;
	session->table = s;
	session->rows = o->rows ? o->rows : 24;
	session->cols = o->cols ? o->cols : 80;
	session->created_ms = session->activity_ms = clock_wall_ms();
	session->idle_timeout_ms = o->idle_timeout_ms;
	session->cwd = strdup(o->cwd ? o->cwd : s->config.cwd);
	session->shell = strdup(o->shell ? o->shell : "bash");
	snprintf(session->id, sizeof session->id, "%s", o->id);
	snprintf(session->name, sizeof session->name, "%s", o->name ? o->name : o->id);
	presence_init(&session->presence);
	rc = session->cwd && session->shell ? make_directory(s, session, &dir_fd) : -ENOMEM;
	if (rc < 0)
		goto err_session;
	rc = link_init(&session->link, s->loop, dir_fd, &link_callbacks, session);
	if (rc < 0) {
		close(dir_fd);
		goto err_directory;
	}
	HASH_ADD_STR(s->table, id, session);
	*ret_session = session;
	return 0;
err_directory:
	remove_directory(s, session->directory);
err_session:
	free_session(session);
	return rc;
}

int sessions_create(
	struct sessions *s, const struct session_options *o, struct session_waiter *waiter)
{
	struct session *session = sessions_find(s, o->id), *replaced = NULL;
	if (session && session->state != SESSION_EXITED)
		return -EEXIST;
	if (!name_is_id(o->id) || (o->name && !name_is_text(o->name)) ||
		o->rows > SESSION_SIDE_MAX || o->cols > SESSION_SIDE_MAX)
		return -EINVAL;
	int rc = check_cwd(o->cwd ? o->cwd : s->config.cwd);
	if (rc < 0)
		return rc;
	replaced = session;
	if (!replaced && sessions_count(s) >= s->config.max_sessions)
		return -EUSERS;
	if (replaced)
		sessions_end(s, replaced, NULL);
	rc = begin(s, o, &session);
	if (rc < 0)
		return rc;
	rc = meta_save(session->link.dir_fd, session);
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
	bool attached = session->state != SESSION_STARTING;
	int fd = openat(session->link.dir_fd, "ending", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	HASH_DEL(s->table, session);
	session->state = SESSION_ENDING;
	DL_APPEND(s->ending, session);
	if (waiter) {
		waiter->next = session->enders;
		session->enders = waiter;
	}
	answer(&session->waiters, session, REPORT_SETUP, -ECANCELED);
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		presence_leave(&session->presence, &v->attendee);
		v->gone(v->user, true);
	}
	sessions_changed(s);
	/* One that is still starting is ended when it has attached. */
	if (!attached ||
		(!session->holder_lost && link_end(&session->link, SESSIONS_KILL_GRACE_MS) == 0))
		return;
	answer(&session->enders, session, REPORT_READY, 0);
	sessions_remove(s, session, true);
}

void sessions_end_all(struct sessions *s)
{
	struct session *session, *next;
	HASH_ITER (hh, s->table, session, next)
		sessions_end(s, session, NULL);
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
			now > session->activity_ms + session->idle_timeout_ms;
		bool expired = session->state == SESSION_EXITED && s->config.ended_ttl_s > 0 &&
			now > session->exited_ms + (uint64_t)s->config.ended_ttl_s * 1000;
		if (idles || expired)
			sessions_end(s, session, NULL);
	}
}

/* Adopting */

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
	if (rc == 0 && !ending && sessions_find(s, session->id))
		rc = -EEXIST;
	int link_fd = rc == 0 ? fcntl(dir_fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (rc == 0)
		rc = link_fd < 0
			? -errno
			: link_init(&session->link, s->loop, link_fd, &link_callbacks, session);
	if (rc < 0) {
		if (link_fd >= 0)
			close(link_fd);
		free_session(session);
		return rc;
	}
	session->state = ending ? SESSION_ENDING : SESSION_STARTING;
	if (ending)
		DL_APPEND(s->ending, session);
	else
		HASH_ADD_STR(s->table, id, session);
	rc = link_adopt(&session->link);
	if (rc < 0)
		release(s, session, false);
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
		remove_directory(s, directory);
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

/* Opening and closing the table */

static int take_directory(struct sessions *s)
{
	int rc, runtime_fd = open(s->config.runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runtime_fd < 0)
		return -errno;
	s->lock_fd = openat(runtime_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		goto out;
	}
	rc = mkdirat(runtime_fd, "sessions", 0700) < 0 && errno != EEXIST ? -errno : 0;
	if (rc == 0)
		s->dir_fd = openat(
			runtime_fd, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (rc == 0 && s->dir_fd < 0)
		rc = -errno;
out:
	close(runtime_fd);
	if (rc < 0 && s->lock_fd >= 0)
		close(s->lock_fd);
	return rc;
}

int sessions_open(struct sessions *s, uv_loop_t *loop, const struct sessions_config *config,
	const struct sessions_callbacks *callbacks, void *user)
{
	*s = (struct sessions){.config = *config,
		.callbacks = callbacks,
		.user = user,
		.loop = loop,
		.lock_fd = -1,
		.dir_fd = -1};
	int rc = take_directory(s);
	if (rc < 0)
		return rc;
	rc = reaper_open(&s->reaper, loop);
	if (rc < 0) {
		close(s->lock_fd);
		close(s->dir_fd);
		return rc;
	}
	/* These cannot fail: they only link themselves into the loop. */
	uv_prepare_init(loop, &s->prepare);
	uv_idle_init(loop, &s->idle);
	uv_timer_init(loop, &s->sweep);
	uv_timer_init(loop, &s->rescan);
	s->prepare.data = s->idle.data = s->sweep.data = s->rescan.data = s;
	uv_prepare_start(&s->prepare, on_prepare);
	uv_unref((uv_handle_t *)&s->prepare);
	uv_timer_start(&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	uv_unref((uv_handle_t *)&s->sweep);
	return 0;
}

void sessions_close(struct sessions *s)
{
	struct session *session, *next;
	s->closing = true;
	HASH_ITER (hh, s->table, session, next) {
		answer(&session->waiters, session, REPORT_SETUP, -ECANCELED);
		release(s, session, false);
	}
	DL_FOREACH_SAFE (s->ending, session, next) {
		answer(&session->enders, session, REPORT_READY, -ECANCELED);
		release(s, session, true);
	}
	reaper_close(&s->reaper);
	uv_close((uv_handle_t *)&s->prepare, NULL);
	uv_close((uv_handle_t *)&s->idle, NULL);
	uv_close((uv_handle_t *)&s->sweep, NULL);
	uv_close((uv_handle_t *)&s->rescan, NULL);
	close(s->lock_fd);
	close(s->dir_fd);
}
