#include "shell/workers.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 200

struct job {
	struct work_item work_item;
	atomic_int begun, done;
	int back;
	bool waits; /* the work waits for gate */
};

static uv_loop_t loop;
static struct workers *workers;
static uv_thread_t loop_thread;
static uv_sem_t gate;

static void on_work(struct work_item *work_item)
{
	struct job *job = (struct job *)work_item;
	uv_thread_t self = uv_thread_self();
	cr_assert_not(uv_thread_equal(&self, &loop_thread));
	atomic_fetch_add(&job->begun, 1);
	if (job->waits)
		uv_sem_wait(&gate);
	atomic_fetch_add(&job->done, 1);
}

static void on_back(struct work_item *work_item)
{
	struct job *job = (struct job *)work_item;
	uv_thread_t self = uv_thread_self();
	cr_assert(uv_thread_equal(&self, &loop_thread));
	cr_assert_eq(work_item->state, WORK_IDLE);
	job->back++;
}

static void open_with(unsigned threads)
{
	loop_thread = uv_thread_self();
	cr_assert_eq(uv_loop_init(&loop), 0);
	workers = workers_open(&loop, threads);
	cr_assert_not_null(workers);
	uv_sem_init(&gate, 0);
}

static void set_up(void)
{
	open_with(1);
}

static void tear_down(void)
{
	workers_close(workers);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
	uv_sem_destroy(&gate);
}

TestSuite(workers, .init = set_up, .fini = tear_down, .timeout = 60);

static struct job make(bool waits)
{
	return (struct job){.work_item = {.work = on_work, .back = on_back}, .waits = waits};
}

static bool all_are_back(const struct job *jobs, int times)
{
	for (int i = 0; i < ITEMS; i++)
		if (jobs[i].back != times)
			return false;
	return true;
}

Test(workers, each_item_is_worked_on_once_and_returned)
{
	static struct job jobs[ITEMS];
	tear_down();
	open_with(3);
	for (int i = 0; i < ITEMS; i++)
		jobs[i] = make(false);
	for (int times = 1; times <= 3; times++) {
		for (int i = 0; i < ITEMS; i++)
			workers_queue(workers, &jobs[i].work_item);
		cr_assert(LOOP_UNTIL(&loop, all_are_back(jobs, times)));
	}
	for (int i = 0; i < ITEMS; i++)
		cr_assert_eq(atomic_load(&jobs[i].done), 3);
}

Test(workers, queued_item_can_be_cancelled)
{
	struct job first = make(true), second = make(false);
	workers_queue(workers, &first.work_item);
	workers_queue(workers, &second.work_item);
	workers_cancel(workers, &second.work_item);
	cr_assert_eq(second.work_item.state, WORK_IDLE);
	uv_sem_post(&gate);
	cr_assert(LOOP_UNTIL(&loop, first.back == 1));
	cr_assert_eq(atomic_load(&second.done), 0);
	cr_assert_eq(second.back, 0);
}

Test(workers, cancel_waits_for_the_current_item)
{
	struct job job = make(true);
	workers_queue(workers, &job.work_item);
	uv_sem_post(&gate);
	workers_cancel(workers, &job.work_item);
	cr_assert_leq(atomic_load(&job.done), 1);
	int done = atomic_load(&job.done);
	for (int i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	cr_assert_eq(job.back, 0, "it was cancelled");
	cr_assert_eq(atomic_load(&job.done), done);
	/* The item can be queued again. */
	uv_sem_post(&gate);
	workers_queue(workers, &job.work_item);
	cr_assert(LOOP_UNTIL(&loop, job.back == 1));
}

Test(workers, finished_item_can_be_cancelled)
{
	struct job job = make(false);
	workers_queue(workers, &job.work_item);
	cr_assert(UNTIL(atomic_load(&job.done) == 1));
	workers_cancel(workers, &job.work_item);
	for (int i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	cr_assert_eq(job.back, 0);
}

#define LATE 12 /* items that are not patient */

static char order[LATE + 5];

static void on_ordered_work(struct work_item *work_item)
{
	order[strlen(order)] = work_item->patient ? 'p' : 'u';
	on_work(work_item);
}

/* Queued while the only thread is busy, patient items first. */
Test(workers, patient_items_wait_for_a_few_others)
{
	static struct job jobs[LATE + 2];
	struct job first = make(true), recalled = make(false), hurried = make(false);
	workers_queue(workers, &first.work_item);
	cr_assert(UNTIL(atomic_load(&first.begun) == 1));
	recalled.work_item.patient = true;
	workers_queue(workers, &recalled.work_item);
	for (int i = 0; i < LATE + 2; i++) {
		jobs[i] = make(false);
		jobs[i].work_item.patient = i < 2;
		jobs[i].work_item.work = on_ordered_work;
		workers_queue(workers, &jobs[i].work_item);
	}
	workers_cancel(workers, &recalled.work_item);
	workers_prioritize(workers, &recalled.work_item);
	hurried.work_item.patient = true;
	hurried.work_item.work = on_ordered_work;
	workers_queue(workers, &hurried.work_item);
	workers_prioritize(workers, &hurried.work_item);
	uv_sem_post(&gate);
	cr_assert(LOOP_UNTIL(&loop, strlen(order) == LATE + 3));
	cr_expect_str_eq(order, "uuuupuuuupuuuuu", "the prioritized item did not wait");
	cr_expect_eq(atomic_load(&recalled.done), 0);
}

Test(workers, number_of_threads_suits_the_machine)
{
	cr_assert_geq(workers_suitable(), 1);
	cr_assert_leq(workers_suitable(), WORKERS_MAX);
	workers_close(NULL);
}
