#include "shell/workers.h"
#include "tests/lib/leak.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define ERRANDS 200

struct job {
	struct work_item work_item;
	atomic_int begun, done;
	int back;
	uv_sem_t *gate; /* it waits for that, if it is not NULL */
};

static uv_loop_t loop;
static struct workers *workers;
static uv_thread_t loop_thread;

static void on_work(struct work_item *work_item)
{
	struct job *job = (struct job *)work_item;
	uv_thread_t self = uv_thread_self();
	cr_assert_not(uv_thread_equal(&self, &loop_thread));
	atomic_fetch_add(&job->begun, 1);
	if (job->gate)
		uv_sem_wait(job->gate);
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
}

static void tear_down(void)
{
	workers_close(workers);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
	ASSERT_NO_LEAKS();
}

static struct job make(uv_sem_t *gate)
{
	return (struct job){.work_item = {.work = on_work, .back = on_back}, .gate = gate};
}

static bool all_are_back(const struct job *jobs, int times)
{
	for (int i = 0; i < ERRANDS; i++)
		if (jobs[i].back != times)
			return false;
	return true;
}

Test(workers, all_are_done_once_and_come_back)
{
	static struct job jobs[ERRANDS];
	open_with(3);
	for (int i = 0; i < ERRANDS; i++)
		jobs[i] = make(NULL);
	for (int times = 1; times <= 3; times++) {
		for (int i = 0; i < ERRANDS; i++)
			workers_queue(workers, &jobs[i].work_item);
		cr_assert(LOOP_UNTIL(&loop, all_are_back(jobs, times)));
	}
	for (int i = 0; i < ERRANDS; i++)
		cr_assert_eq(atomic_load(&jobs[i].done), 3);
	tear_down();
}

Test(workers, one_that_waits_is_had_back_unworked)
{
	uv_sem_t gate;
	open_with(1);
	uv_sem_init(&gate, 0);
	struct job first = make(&gate), second = make(NULL);
	workers_queue(workers, &first.work_item);
	workers_queue(workers, &second.work_item);
	workers_cancel(workers, &second.work_item);
	cr_assert_eq(second.work_item.state, WORK_IDLE);
	uv_sem_post(&gate);
	cr_assert(LOOP_UNTIL(&loop, first.back == 1));
	cr_assert_eq(atomic_load(&second.done), 0);
	cr_assert_eq(second.back, 0);
	uv_sem_destroy(&gate);
	tear_down();
}

Test(workers, one_that_is_worked_at_is_waited_for)
{
	uv_sem_t gate;
	open_with(1);
	uv_sem_init(&gate, 0);
	struct job job = make(&gate);
	workers_queue(workers, &job.work_item);
	uv_sem_post(&gate);
	workers_cancel(workers, &job.work_item);
	cr_assert_leq(atomic_load(&job.done), 1);
	int done = atomic_load(&job.done);
	for (int i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	cr_assert_eq(job.back, 0, "it was had back before");
	cr_assert_eq(atomic_load(&job.done), done);
	/* And can be sent again. */
	uv_sem_post(&gate);
	workers_queue(workers, &job.work_item);
	cr_assert(LOOP_UNTIL(&loop, job.back == 1));
	uv_sem_destroy(&gate);
	tear_down();
}

Test(workers, one_that_is_done_but_not_back_is_home)
{
	open_with(1);
	struct job job = make(NULL);
	workers_queue(workers, &job.work_item);
	cr_assert(UNTIL(atomic_load(&job.done) == 1));
	workers_cancel(workers, &job.work_item);
	for (int i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	cr_assert_eq(job.back, 0);
	tear_down();
}

#define LATE 12 /* errands that are not patient */

static char order[LATE + 5];

static void on_ordered_work(struct work_item *work_item)
{
	order[strlen(order)] = work_item->patient ? 'p' : 'u';
	on_work(work_item);
}

/* While the only thread is busy others come: patient ones first. */
Test(workers, patient_ones_wait_for_a_few_others)
{
	static struct job jobs[LATE + 2];
	uv_sem_t gate;
	open_with(1);
	uv_sem_init(&gate, 0);
	struct job first = make(&gate), recalled = make(NULL), hurried = make(NULL);
	workers_queue(workers, &first.work_item);
	cr_assert(UNTIL(atomic_load(&first.begun) == 1));
	recalled.work_item.patient = true;
	workers_queue(workers, &recalled.work_item);
	for (int i = 0; i < LATE + 2; i++) {
		jobs[i] = make(NULL);
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
	cr_expect_str_eq(order, "uuuupuuuupuuuuu", "the last has not waited");
	cr_expect_eq(atomic_load(&recalled.done), 0);
	uv_sem_destroy(&gate);
	tear_down();
}

Test(workers, as_many_as_suit_the_machine)
{
	cr_assert_geq(workers_suitable(), 1);
	cr_assert_leq(workers_suitable(), WORKERS_MAX);
	workers_close(NULL);
}
