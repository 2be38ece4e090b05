/*
 * See attempt.h. A thread goes idle -> asked -> done -> idle; or asked -> left -> ended. An attempt
 * that was left is referenced by its thread and its key; the last of the two frees it.
 */
#include "shell/proc/attempt.h"

#include "pty/proc/proc.h"
#include "shell/clock.h"
#include "shell/own_error.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>
#include <uv.h>

#define SLICE_MS 5 /* between two checks of a thread that has not answered */
#define STACK_SIZE ((size_t)512 << 10)

enum state {
	IDLE,
	ASKED,
	DONE,
	LEFT,  /* abandoned by the caller; the thread still runs */
	ENDED, /* the thread has ended, or an idle thread is told to end */
};

struct attempt {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all fields below */
	pthread_cond_t changed;
	enum state state;
	pid_t tid; /* 0: the thread has not started yet */
	struct attempt_call call;
	uint64_t asked_ms; /* monotonic */
	uint64_t took_ns;  /* by the work, when it is DONE */
	void *data;        /* owned */
	bool orphaned;     /* no key refers to it any more: the thread frees it */
};

struct attempt_key {
	pid_t key;
	uint64_t since_ms;    /* monotonic: start of the current period of ATTEMPT_REST_MS */
	uint64_t spent_ns;    /* by attempts in this period */
	uint64_t until_ms;    /* monotonic: the key is refused until then */
	struct attempt *left; /* the attempt that hangs, or NULL */
	UT_hash_handle hh;
};

static void free_attempt(struct attempt *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t->data);
	free(t);
}

/* The thread */

/* Wait for work and do it. Returns false when the thread must end. Called with the lock held. */
static bool do_work(struct attempt *t)
{
	while (t->state == IDLE || t->state == DONE)
		pthread_cond_wait(&t->changed, &t->lock);
	if (t->state != ASKED)
		return false;
	pthread_mutex_unlock(&t->lock);
	uint64_t begun_ns = uv_hrtime();
	t->call.work(t, t->data);
	uint64_t took_ns = uv_hrtime() - begun_ns;
	pthread_mutex_lock(&t->lock);
	t->took_ns = took_ns;
	if (t->state == LEFT)
		return false;
	t->state = DONE;
	pthread_cond_broadcast(&t->changed);
	return true;
}

static void *run(void *user)
{
	struct attempt *t = user;
	pthread_mutex_lock(&t->lock);
	t->tid = gettid();
	while (do_work(t))
		;
	if (t->state == LEFT && t->call.discard)
		t->call.discard(t->data);
	bool last = t->orphaned;
	t->state = ENDED;
	pthread_mutex_unlock(&t->lock);
	if (last)
		free_attempt(t);
	return NULL;
}

bool attempt_lock(struct attempt *t)
{
	if (!t)
		return true;
	pthread_mutex_lock(&t->lock);
	if (t->state != LEFT)
		return true;
	pthread_mutex_unlock(&t->lock);
	return false;
}

void attempt_unlock(struct attempt *t)
{
	if (t)
		pthread_mutex_unlock(&t->lock);
}

uint64_t attempt_age_ms(const struct attempt *t)
{
	return t ? clock_monotonic_ms() - t->asked_ms : 0;
}

/* Creation and destruction */

static int start_thread(struct attempt *t)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int rc = pthread_attr_init(&attributes);
	if (rc != 0)
		return -rc;
	rc = pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (rc == 0)
		rc = pthread_create(&t->thread, &attributes, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -rc;
}

/* Create an idle attempt. Returns 0 or a negative errno. */
static int create(struct attempt **ret)
{
	pthread_condattr_t attributes;
	struct attempt *t = calloc(1, sizeof *t);
	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	int rc = start_thread(t);
	if (rc < 0)
		free_attempt(t);
	else
		*ret = t;
	return rc;
}

static void end_idle(struct attempt *t)
{
	pthread_mutex_lock(&t->lock);
	t->state = ENDED;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	free_attempt(t);
}

/* Drop a key's reference to an attempt that was left. */
static void drop_left(struct attempt *t)
{
	pthread_mutex_lock(&t->lock);
	t->orphaned = true;
	bool ended = t->state == ENDED;
	pthread_mutex_unlock(&t->lock);
	if (ended)
		free_attempt(t);
}

/* Keys */

static bool has_ended(struct attempt *t)
{
	pthread_mutex_lock(&t->lock);
	bool ended = t->state == ENDED;
	pthread_mutex_unlock(&t->lock);
	return ended;
}

static void remove_key(struct attempts *a, struct attempt_key *k)
{
	HASH_DEL(a->keys, k); /* NOLINT(clang-analyzer-*): in uthash */
	if (k->left)
		drop_left(k->left);
	free(k);
}

/* Whether attempts with this key are refused now. */
static bool is_refused(struct attempt_key *k, uint64_t now)
{
	if (k->left && has_ended(k->left)) {
		drop_left(k->left);
		k->left = NULL;
	}
	return k->left || now < k->until_ms;
}

/* Remove keys that have no state worth keeping. */
static void remove_unused(struct attempts *a, uint64_t now)
{
	struct attempt_key *k, *next;
	HASH_ITER (hh, a->keys, k, next)
		if (!is_refused(k, now) && now >= k->since_ms + ATTEMPT_REST_MS)
			remove_key(a, k);
}

/* Find or add a key. Returns 0, -EBUSY if it is refused, or another negative errno. */
static int find_key(struct attempts *a, pid_t key, uint64_t now, struct attempt_key **ret)
{
	struct attempt_key *k;
	HASH_FIND_INT(a->keys, &key, k);
	if (!k && HASH_COUNT(a->keys) >= ATTEMPT_KEYS_MAX)
		remove_unused(a, now);
	if (!k && HASH_COUNT(a->keys) >= ATTEMPT_KEYS_MAX)
		return -ERR_LIMIT;
	if (!k) {
		k = calloc(1, sizeof *k);
		if (!k)
			return -ENOMEM;
		k->key = key;
		HASH_ADD_INT(a->keys, key, k);
		if (!k->hh.tbl) {
			free(k);
			return -ENOMEM;
		}
	}
	*ret = k;
	return is_refused(k, now) ? -EBUSY : 0;
}

static void note_spent(const struct attempts *a, struct attempt_key *k, uint64_t took_ns)
{
	uint64_t now = clock_monotonic_ms();
	if (now >= k->since_ms + ATTEMPT_REST_MS) {
		k->since_ms = now;
		k->spent_ns = 0;
	}
	k->spent_ns += took_ns;
	if (k->left || (a->share_ms > 0 && k->spent_ns >= a->share_ms * UINT64_C(1000000)))
		k->until_ms = now + ATTEMPT_REST_MS;
}

/* Waiting */

/* Whether the thread is in uninterruptible sleep (D), or that cannot be found out. */
static bool is_stuck(pid_t tid)
{
	char path[48], text[PROC_STATUS_MAX];
	struct proc_status s;
	if (tid == 0)
		return false;
	snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
	return proc_read(AT_FDCWD, path, text, sizeof text) <= 0 || !proc_parse_status(text, &s) ||
		s.state == 'D';
}

/* Wait up to SLICE_MS for DONE, with the lock held. */
static bool await_slice(struct attempt *t)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += SLICE_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (t->state != DONE && pthread_cond_timedwait(&t->changed, &t->lock, &until) == 0)
		;
	return t->state == DONE;
}

/* Wait for DONE, with the lock held. Returns false if the work hangs. */
static bool await(struct attempt *t)
{
	unsigned stuck = 0; /* consecutive slices */
	while (!await_slice(t)) {
		stuck = is_stuck(t->tid) ? stuck + 1 : 0;
		if (stuck * SLICE_MS >= ATTEMPT_STUCK_MS || attempt_age_ms(t) >= ATTEMPT_MAX_MS)
			return false;
	}
	return true;
}

/*
 * Run the call on a copy of data and copy that back. Returns false if it was abandoned. *ret_took_ns: what the work
 * took. On a busy machine, starting it and noticing its end take longer than that, which is not the fault of the key's
 * programs.
 */
static bool ask(struct attempt *t, const struct attempt_call *call, void *data, size_t size,
	uint64_t *ret_took_ns)
{
	pthread_mutex_lock(&t->lock);
	t->call = *call;
	t->asked_ms = clock_monotonic_ms();
	memcpy(t->data, data, size);
	t->state = ASKED;
	pthread_cond_broadcast(&t->changed);
	bool done = await(t);
	*ret_took_ns = done ? t->took_ns : 0;
	if (done)
		memcpy(data, t->data, size);
	t->state = done ? IDLE : LEFT;
	pthread_mutex_unlock(&t->lock);
	return done;
}

/* Ensure an idle thread with size bytes of data. Returns 0 or a negative errno. */
static int prepare(struct attempts *a, size_t size)
{
	int rc = a->idle ? 0 : create(&a->idle);
	void *memory = rc < 0 ? NULL : realloc(a->idle->data, size);
	if (!memory)
		return rc < 0 ? rc : -ENOMEM;
	a->idle->data = memory; /* an idle thread does not access it */
	return 0;
}

int attempt_run(struct attempts *a, const struct attempt_call *call, void *data, size_t size)
{
	struct attempt_key *k = NULL;
	uint64_t took_ns;
	int rc = find_key(a, call->key, clock_monotonic_ms(), &k);
	if (rc == 0)
		rc = prepare(a, size);
	if (rc < 0)
		return rc;
	if (!ask(a->idle, call, data, size, &took_ns)) {
		pthread_detach(a->idle->thread);
		k->left = a->idle;
		a->idle = NULL;
		rc = -ETIMEDOUT;
	}
	note_spent(a, k, took_ns);
	return rc;
}

void attempts_finish(struct attempts *a)
{
	struct attempt_key *k, *next;
	if (a->idle)
		end_idle(a->idle);
	a->idle = NULL;
	HASH_ITER (hh, a->keys, k, next)
		remove_key(a, k);
}
