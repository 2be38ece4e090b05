/*
 * A job is queued -> busy (-> stuck) -> finished -> done. The lock is not held while a job runs. A thread sets
 * its rights once, at its start, with raw system calls: they change the calling thread alone, while libc's
 * wrappers change all threads. Only the effective ids, which the kernel checks, are the user's; the real and
 * saved ones stay the server's, so that the user cannot signal the server.
 */
#include "shell/files/crew.h"

#include "shell/clock.h"
#include "shell/own_error.h"
#include "shell/user.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

#define TICK_MS 500u
#define STACK_SIZE ((size_t)1 << 20) /* libmagic needs a deep one */

struct crew {
	uv_async_t async; /* a job is finished */
	uv_mutex_t lock;
	uv_cond_t more;                      /* a job is queued */
	uv_cond_t less;                      /* a job is finished, or a thread has ended */
	uv_timer_t tick;                     /* looks for stuck jobs; runs while any job is going */
	struct job *queue, *busy, *finished; /* lists */
	unsigned queued, threads, idle, stuck;
	unsigned going; /* jobs that are not done; used on the loop alone */
	uint64_t stuck_total, refused_total;
	bool ending;
	unsigned open_handles;
	struct crew_options options;
};

/* Rights */

static int set_groups(const struct user *u)
{
	gid_t groups[USER_GROUPS_MAX];
	size_t count = 0;
	for (const char *p = u->groups; *p && count < USER_GROUPS_MAX;) {
		char *end;
		groups[count++] = (gid_t)strtoul(p, &end, 10);
		p = *end == ',' ? end + 1 : end;
	}
	return syscall(SYS_setgroups, count, groups) < 0 ? -errno : 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

/* Set the rights of the calling thread. */
static int set_rights(const struct crew_options *o)
{
	if (o->user) {
		int rc = set_groups(o->user);
		if (rc < 0 || syscall(SYS_setresgid, -1, o->user->gid, -1) < 0 ||
			syscall(SYS_setresuid, -1, o->user->uid, -1) < 0)
			return rc < 0 ? rc : -errno;
	}
	return o->user || o->bare ? drop_capabilities() : 0;
}

/* Limits */

/* Count an owner's running jobs, and the stuck ones of them. owner: one letter counts all owners that start with it. */
static unsigned count_busy(const struct crew *c, const char *owner, unsigned *ret_stuck)
{
	unsigned count = 0, stuck = 0;
	const struct job *job;
	bool all = !owner[1];
	DL_FOREACH (c->busy, job)
		if (all ? job->owner[0] == owner[0] : strcmp(job->owner, owner) == 0) {
			count++;
			stuck += job->stuck;
		}
	*ret_stuck = stuck;
	return count;
}

/* Whether a job has to wait for its owner's running jobs; *ret_stuck: all of them are stuck. */
static bool is_at_limit(const struct crew *c, const struct job *job, bool *ret_stuck)
{
	static const char guests[] = {CREW_GUEST, '\0'};
	unsigned stuck;
	*ret_stuck = false;
	if (c->options.patient || !job->owner[0])
		return false;
	bool at_limit = count_busy(c, job->owner, &stuck) >= CREW_OWNER_MAX;
	*ret_stuck = at_limit && stuck >= CREW_OWNER_MAX;
	if (at_limit || job->owner[0] != CREW_GUEST)
		return at_limit;
	at_limit = count_busy(c, guests, &stuck) >= CREW_GUESTS_MAX;
	*ret_stuck = at_limit && stuck >= CREW_GUESTS_MAX;
	return at_limit;
}

static unsigned threads_max(const struct crew *c)
{
	return c->options.threads + (c->stuck < CREW_SPARE ? c->stuck : CREW_SPARE);
}

/* Whether a job waits for stuck jobs only. */
static bool is_blocked(const struct crew *c, const struct job *job)
{
	bool stuck;
	if (job->owed)
		return false;
	return (is_at_limit(c, job, &stuck) && stuck) ||
		(c->stuck >= c->options.threads + CREW_SPARE && !c->options.patient);
}

/* The first queued job that may run now, or NULL. */
static struct job *first_runnable(const struct crew *c)
{
	struct job *job;
	bool stuck;
	DL_FOREACH (c->queue, job)
		if (!is_at_limit(c, job, &stuck))
			return job;
	return NULL;
}

/* Threads */

static void run_job(struct crew *c, struct job *job, int rights)
{
	job->error = rights;
	job->begun_ms = clock_monotonic_ms();
	DL_APPEND(c->busy, job);
	uv_mutex_unlock(&c->lock);
	if (rights == 0)
		job->work(job);
	uv_mutex_lock(&c->lock);
	/* crew_close() has given up on this job. */
	if (c->ending)
		return;
	DL_DELETE(c->busy, job); /* NOLINT(clang-analyzer-*): it is in the list */
	c->stuck -= job->stuck;
	DL_APPEND(c->finished, job);
	uv_async_send(&c->async);
	uv_cond_signal(&c->less);
}

static void *run_thread(void *user)
{
	struct crew *c = user;
	int rights = set_rights(&c->options) < 0 ? -EPERM : 0;
	uv_mutex_lock(&c->lock);
	while (!c->ending) {
		struct job *job = first_runnable(c);
		if (job) {
			DL_DELETE(c->queue, job);
			c->queued--;
			run_job(c, job, rights);
		} else if (c->threads > threads_max(c)) {
			break; /* it is a spare one */
		} else {
			c->idle++;
			uv_cond_wait(&c->more, &c->lock);
			c->idle--;
		}
	}
	c->threads--;
	uv_cond_signal(&c->less);
	uv_mutex_unlock(&c->lock);
	return NULL;
}

/* Threads block all signals, and are detached: a stuck one cannot be joined. */
static int start_thread(struct crew *c)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return -EAGAIN;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(&thread, &attributes, run_thread, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	if (rc == 0)
		c->threads++;
	return rc == 0 ? 0 : -EAGAIN;
}

/* On the loop */

static void finish(struct crew *c, struct job *job)
{
	if (--c->going == 0) {
		uv_unref((uv_handle_t *)&c->async);
		uv_timer_stop(&c->tick);
	}
	job->done(job, job->error);
}

static void on_finished(uv_async_t *async)
{
	struct crew *c = async->data;
	for (;;) {
		uv_mutex_lock(&c->lock);
		struct job *job = c->finished;
		if (job)
			DL_DELETE(c->finished, job);
		uv_mutex_unlock(&c->lock);
		if (!job)
			return;
		finish(c, job);
	}
}

/* Mark jobs of one owner that have run too long. *ret_owner: the owner. Returns their number. */
static unsigned mark_stuck(struct crew *c, char ret_owner[CREW_OWNER_SIZE])
{
	unsigned count = 0;
	struct job *job;
	uv_mutex_lock(&c->lock);
	uint64_t now = clock_monotonic_ms(); /* after the lock: no job has begun later */
	DL_FOREACH (c->busy, job) {
		bool other = count > 0 && strcmp(job->owner, ret_owner) != 0;
		if (job->stuck || other || now - job->begun_ms < CREW_STUCK_MS)
			continue;
		memcpy(ret_owner, job->owner, CREW_OWNER_SIZE);
		job->stuck = true;
		count++;
	}
	c->stuck += count;
	c->stuck_total += count;
	uv_mutex_unlock(&c->lock);
	return count;
}

/* Fail jobs that wait for stuck jobs only, and start a spare thread for the rest. */
static void unblock_queue(struct crew *c)
{
	struct job *job, *next;
	uv_mutex_lock(&c->lock);
	DL_FOREACH_SAFE (c->queue, job, next) {
		if (!is_blocked(c, job))
			continue;
		DL_DELETE(c->queue, job);
		c->queued--;
		c->refused_total++;
		job->error = -ERR_FILES_STUCK;
		DL_APPEND(c->finished, job);
		uv_async_send(&c->async);
	}
	if (first_runnable(c) && c->idle == 0 && c->threads < threads_max(c))
		(void)start_thread(c); /* the next tick tries again */
	uv_mutex_unlock(&c->lock);
}

static void on_tick(uv_timer_t *timer)
{
	struct crew *c = timer->data;
	char owner[CREW_OWNER_SIZE];
	unsigned count;
	while ((count = mark_stuck(c, owner)) > 0)
		if (c->options.stuck)
			c->options.stuck(c->options.stuck_user, owner, count);
	unblock_queue(c);
}

struct crew *crew_open(uv_loop_t *loop, const struct crew_options *options)
{
	struct crew *c = calloc(1, sizeof *c);
	if (!c || uv_async_init(loop, &c->async, on_finished) < 0) {
		free(c);
		return NULL;
	}
	/* These fail only if the process cannot have locks. */
	if (uv_mutex_init(&c->lock) < 0 || uv_cond_init(&c->more) < 0 || uv_cond_init(&c->less) < 0)
		abort();
	c->options = *options;
	if (c->options.threads == 0)
		c->options.threads = CREW_MAX;
	c->async.data = c->tick.data = c;
	uv_timer_init(loop, &c->tick);
	c->open_handles = 2;
	uv_unref((uv_handle_t *)&c->async);
	uv_unref((uv_handle_t *)&c->tick);
	return c;
}

/* Whether too many jobs wait already. */
static bool is_queue_full(const struct crew *c, const struct job *job)
{
	const struct job *other;
	unsigned guests = 0;
	if (c->queued < CREW_QUEUE_GUESTS || job->owner[0] != CREW_GUEST)
		return c->queued >= CREW_QUEUE;
	DL_FOREACH (c->queue, other)
		guests += other->owner[0] == CREW_GUEST;
	return guests >= CREW_QUEUE_GUESTS || c->queued >= CREW_QUEUE;
}

/* Whether a job may be queued: 0, -ERR_LIMIT or -ERR_FILES_STUCK. */
static int check_queue(struct crew *c, const struct job *job)
{
	int rc = 0;
	if (job->owed)
		return 0;
	if (is_queue_full(c, job))
		rc = -ERR_LIMIT;
	else if (is_blocked(c, job))
		rc = -ERR_FILES_STUCK;
	c->refused_total += rc < 0;
	return rc;
}

int crew_send(struct crew *c, struct job *job)
{
	uv_mutex_lock(&c->lock);
	int rc = c->ending ? -ECANCELED : check_queue(c, job);
	if (rc == 0 && c->queued >= c->idle && c->threads < threads_max(c) && start_thread(c) < 0 &&
		c->threads == 0)
		rc = -EAGAIN;
	if (rc == 0) {
		job->error = 0;
		job->stuck = false;
		DL_APPEND(c->queue, job);
		c->queued++;
		if (c->going++ == 0) {
			uv_ref((uv_handle_t *)&c->async);
			if (!c->options.patient)
				uv_timer_start(&c->tick, on_tick, TICK_MS, TICK_MS);
		}
		uv_cond_signal(&c->more);
	}
	uv_mutex_unlock(&c->lock);
	return rc;
}

void crew_send_required(struct crew *c, struct job *job)
{
	job->owed = true;
	if (crew_send(c, job) == 0)
		return;
	job->work(job);
	job->done(job, 0);
}

unsigned crew_count(struct crew *c, const char *owner)
{
	unsigned stuck;
	const struct job *job;
	uv_mutex_lock(&c->lock);
	unsigned count = count_busy(c, owner, &stuck);
	DL_FOREACH (c->queue, job)
		count += strcmp(job->owner, owner) == 0;
	uv_mutex_unlock(&c->lock);
	return count;
}

void crew_get_counts(struct crew *c, struct crew_counts *ret)
{
	uv_mutex_lock(&c->lock);
	*ret = (struct crew_counts){.threads = c->threads,
		.at_work = c->threads - c->idle,
		.waiting = c->queued,
		.stuck = c->stuck,
		.stuck_total = c->stuck_total,
		.refused_total = c->refused_total};
	uv_mutex_unlock(&c->lock);
}

static void on_closed(uv_handle_t *handle)
{
	struct crew *c = handle->data;
	if (--c->open_handles > 0)
		return;
	uv_mutex_lock(&c->lock);
	bool alone = c->threads == 0;
	uv_mutex_unlock(&c->lock);
	if (!alone)
		return; /* stuck threads still use it */
	uv_cond_destroy(&c->less);
	uv_cond_destroy(&c->more);
	uv_mutex_destroy(&c->lock);
	free(c);
}

/* Wait for running jobs, up to CREW_CLOSE_WAIT_MS, then stop all idle threads. */
static void wait_for_jobs(struct crew *c)
{
	uint64_t end = uv_hrtime() + CREW_CLOSE_WAIT_MS * UINT64_C(1000000);
	uv_mutex_lock(&c->lock);
	for (uint64_t now; c->threads > c->idle && (now = uv_hrtime()) < end;)
		uv_cond_timedwait(&c->less, &c->lock, end - now);
	c->ending = true;
	uv_cond_broadcast(&c->more);
	while (c->idle > 0)
		uv_cond_wait(&c->less, &c->lock);
	uv_mutex_unlock(&c->lock);
}

void crew_close(struct crew *c)
{
	if (!c)
		return;
	struct job *left;
	uv_mutex_lock(&c->lock);
	DL_FOREACH (c->queue, left)
		left->error = -ECANCELED;
	DL_CONCAT(c->finished, c->queue);
	c->queue = NULL;
	c->queued = 0;
	uv_mutex_unlock(&c->lock);
	wait_for_jobs(c);
	on_finished(&c->async);
	uv_close((uv_handle_t *)&c->async, on_closed);
	uv_close((uv_handle_t *)&c->tick, on_closed);
}
