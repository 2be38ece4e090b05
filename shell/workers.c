/* States of an work_item: home -> queued -> out -> done -> home. work() runs without the lock, with signals blocked. */
#include "shell/workers.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <utlist.h>

struct workers {
	uv_async_t async; /* an work_item is done */
	uv_mutex_t lock;
	uv_cond_t more, done;
	struct work_item *queue, *patient, *finished; /* lists */
	unsigned passed; /* errands that were started while a patient one was queued */
	bool ending;
	/* Errands that are not at home; used by the loop thread only, which stays alive while there are any. */
	unsigned out;
	unsigned count;
	uv_thread_t threads[WORKERS_MAX];
};

static struct work_item **queue_of(struct workers *w, const struct work_item *work_item)
{
	return work_item->patient ? &w->patient : &w->queue;
}

/* The next work_item to work on, or NULL. */
static struct work_item *next_errand(struct workers *w)
{
	bool patient = w->patient && (!w->queue || w->passed >= WORKERS_PATIENCE);
	w->passed = patient ? 0 : w->passed + (w->patient != NULL);
	return patient ? w->patient : w->queue;
}

static void work(struct workers *w, struct work_item *work_item)
{
	DL_DELETE(*queue_of(w, work_item), work_item);
	work_item->state = WORK_RUNNING;
	uv_mutex_unlock(&w->lock);
	work_item->work(work_item);
	uv_mutex_lock(&w->lock);
	work_item->state = WORK_DONE;
	DL_APPEND(w->finished, work_item);
	uv_cond_broadcast(&w->done);
	uv_async_send(&w->async);
}

static void run(void *user)
{
	struct workers *w = user;
	uv_mutex_lock(&w->lock);
	while (!w->ending) {
		struct work_item *work_item = next_errand(w);
		if (work_item)
			work(w, work_item);
		else
			uv_cond_wait(&w->more, &w->lock);
	}
	uv_mutex_unlock(&w->lock);
}

static void note_home(struct workers *w)
{
	if (--w->out == 0)
		uv_unref((uv_handle_t *)&w->async);
}

static void on_done(uv_async_t *async)
{
	struct workers *w = async->data;
	for (;;) {
		uv_mutex_lock(&w->lock);
		struct work_item *work_item = w->finished;
		if (work_item) {
			DL_DELETE(w->finished, work_item);
			work_item->state = WORK_IDLE;
		}
		uv_mutex_unlock(&w->lock);
		if (!work_item)
			return;
		note_home(w);
		work_item->back(work_item);
	}
}

/* Signals are handled by the loop's thread. */
static void start_threads(struct workers *w, unsigned threads)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < threads && i < WORKERS_MAX; i++)
		if (uv_thread_create(&w->threads[w->count], run, w) == 0)
			w->count++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void on_closed(uv_handle_t *handle)
{
	struct workers *w = handle->data;
	uv_cond_destroy(&w->done);
	uv_cond_destroy(&w->more);
	uv_mutex_destroy(&w->lock);
	free(w);
}

struct workers *workers_open(uv_loop_t *loop, unsigned threads)
{
	struct workers *w = calloc(1, sizeof *w);
	if (!w || uv_async_init(loop, &w->async, on_done) < 0) {
		free(w);
		return NULL;
	}
	/* These fail only if the process cannot have a lock. */
	if (uv_mutex_init(&w->lock) < 0 || uv_cond_init(&w->more) < 0 || uv_cond_init(&w->done) < 0)
		abort();
	w->async.data = w;
	uv_unref((uv_handle_t *)&w->async);
	start_threads(w, threads);
	if (w->count > 0)
		return w;
	workers_close(w);
	return NULL;
}

void workers_close(struct workers *w)
{
	if (!w)
		return;
	uv_mutex_lock(&w->lock);
	w->ending = true;
	uv_cond_broadcast(&w->more);
	uv_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->count; i++)
		uv_thread_join(&w->threads[i]);
	uv_close((uv_handle_t *)&w->async, on_closed);
}

void workers_queue(struct workers *w, struct work_item *work_item)
{
	if (w->out++ == 0)
		uv_ref((uv_handle_t *)&w->async);
	uv_mutex_lock(&w->lock);
	work_item->state = WORK_QUEUED;
	DL_APPEND(*queue_of(w, work_item), work_item);
	uv_cond_signal(&w->more);
	uv_mutex_unlock(&w->lock);
}

void workers_cancel(struct workers *w, struct work_item *work_item)
{
	uv_mutex_lock(&w->lock);
	while (work_item->state == WORK_RUNNING)
		uv_cond_wait(&w->done, &w->lock);
	if (work_item->state == WORK_QUEUED)
		DL_DELETE(*queue_of(w, work_item), work_item);
	else if (work_item->state == WORK_DONE)
		DL_DELETE(w->finished, work_item);
	bool was_home = work_item->state == WORK_IDLE;
	work_item->state = WORK_IDLE;
	uv_mutex_unlock(&w->lock);
	if (!was_home)
		note_home(w);
}

void workers_prioritize(struct workers *w, struct work_item *work_item)
{
	uv_mutex_lock(&w->lock);
	if (work_item->state == WORK_QUEUED && work_item->patient) {
		DL_DELETE(w->patient, work_item);
		work_item->patient = false;
		DL_APPEND(w->queue, work_item);
	}
	uv_mutex_unlock(&w->lock);
}

unsigned workers_suitable(void)
{
	cpu_set_t set;
	int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	if (cpus <= 2)
		return 1;
	return (unsigned)cpus - 1 < WORKERS_MAX ? (unsigned)cpus - 1 : WORKERS_MAX;
}
