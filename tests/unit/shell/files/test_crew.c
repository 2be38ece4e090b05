#include "shell/files/crew.h"
#include "shell/own_error.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct task {
	struct job job;
	uv_sem_t *gate; /* job waits for it unless NULL */
	atomic_int worked;
	int done, error;
};

static uv_loop_t loop;
static struct crew *crew;

static atomic_uint begun;
static uv_sem_t gate;

static void on_work(struct job *job)
{
	struct task *t = (struct task *)job;
	atomic_fetch_add(&begun, 1);
	if (t->gate)
		uv_sem_wait(t->gate);
	atomic_fetch_add(&t->worked, 1);
}

static void on_done(struct job *job, int error)
{
	struct task *t = (struct task *)job;
	t->done++;
	t->error = error;
}

static void open_crew(const struct crew_options *options)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	crew = crew_open(&loop, options);
	cr_assert_not_null(crew);
}

static void set_up(void)
{
	uv_sem_init(&gate, 0);
	open_crew(&(struct crew_options){0});
}

static void close_crew(void)
{
	crew_close(crew);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
}

static void tear_down(void)
{
	close_crew();
	uv_sem_destroy(&gate);
}

TestSuite(crew, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(crew_close, .init = set_up, .timeout = 30); /* whose test closes the crew */

Test(crew, each_job_is_done_once)
{
	static struct task tasks[300];
	for (size_t i = 0; i < 300; i++) {
		tasks[i].job = (struct job){.work = on_work, .done = on_done};
		cr_assert_eq(crew_send(crew, &tasks[i].job), 0);
	}
	uv_run(&loop, UV_RUN_DEFAULT); /* returns when all jobs are done */
	for (size_t i = 0; i < 300; i++)
		cr_assert(tasks[i].done == 1 && tasks[i].worked == 1 && tasks[i].error == 0);
}

Test(crew, blocked_job_uses_one_thread_only)
{
	static struct task stuck[CREW_MAX - 1], other;
	for (size_t i = 0; i < CREW_MAX - 1; i++) {
		stuck[i] = (struct task){.job = {.work = on_work, .done = on_done}, .gate = &gate};
		cr_assert_eq(crew_send(crew, &stuck[i].job), 0);
	}
	other.job = (struct job){.work = on_work, .done = on_done};
	cr_assert_eq(crew_send(crew, &other.job), 0);
	while (!other.done)
		uv_run(&loop, UV_RUN_ONCE);
	cr_assert_eq(stuck[0].done, 0);
	for (size_t i = 0; i < CREW_MAX - 1; i++)
		uv_sem_post(&gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (size_t i = 0; i < CREW_MAX - 1; i++)
		cr_assert_eq(stuck[i].done, 1);
}

/* Send jobs that wait for gate. Returns how many were accepted before one was refused. */
static unsigned send_until_refused(struct task *tasks, unsigned most, const char *owner)
{
	for (unsigned sent = 0; sent < most; sent++) {
		tasks[sent] = (struct task){
			.job = {.work = on_work, .done = on_done}, .gate = &gate};
		snprintf(tasks[sent].job.owner, sizeof tasks[sent].job.owner, "%s", owner);
		if (crew_send(crew, &tasks[sent].job) < 0)
			return sent;
	}
	return most;
}

Test(crew, queue_is_limited)
{
	static struct task tasks[CREW_MAX + CREW_QUEUE + 1];
	unsigned sent = send_until_refused(tasks, CREW_MAX + CREW_QUEUE + 1, "");
	cr_assert_geq(sent, CREW_QUEUE);
	cr_assert_lt(sent, CREW_MAX + CREW_QUEUE + 1);
	for (unsigned i = 0; i < sent; i++)
		uv_sem_post(&gate);
	uv_run(&loop, UV_RUN_DEFAULT);
}

Test(crew, guests_leave_space_in_the_queue)
{
	static struct task tasks[CREW_OWNER_MAX + CREW_QUEUE + 1];
	unsigned sent = send_until_refused(tasks, CREW_OWNER_MAX + CREW_QUEUE, "l:one");
	cr_assert_geq(sent, CREW_QUEUE_GUESTS);
	cr_assert_leq(sent, CREW_OWNER_MAX + CREW_QUEUE_GUESTS);
	cr_assert_eq(send_until_refused(&tasks[sent], 1, "o"), 1);
	sent++;
	for (unsigned i = 0; i < sent; i++)
		uv_sem_post(&gate);
	uv_run(&loop, UV_RUN_DEFAULT);
}

Test(crew_close, does_not_wait_for_blocked_jobs)
{
	static struct task stuck, waiting[CREW_MAX];
	stuck = (struct task){.job = {.work = on_work, .done = on_done}, .gate = &gate};
	cr_assert_eq(crew_send(crew, &stuck.job), 0);
	for (unsigned i = 0; i < CREW_MAX; i++) {
		waiting[i] = (struct task){.job = {.work = on_work, .done = on_done}, .gate = &gate};
		cr_assert_eq(crew_send(crew, &waiting[i].job), 0);
	}
	while (atomic_load(&begun) < CREW_MAX)
		usleep(1000); /* bounded by the test's timeout */
	close_crew();
	cr_assert_eq(stuck.done, 0);
	unsigned cancelled = 0;
	for (unsigned i = 0; i < CREW_MAX; i++)
		cancelled += waiting[i].done == 1 && waiting[i].error == -ECANCELED;
	cr_assert_eq(cancelled, 1);
}

static unsigned stuck_reported;

static void on_stuck(void *user, const char *owner, unsigned count)
{
	(void)user;
	cr_assert(strcmp(owner, "owner:a") == 0 || strcmp(owner, "link:b") == 0);
	stuck_reported += count;
}

static struct task *send_for(const char *owner, bool waits, int want)
{
	struct task *t = calloc(1, sizeof *t);
	t->gate = waits ? &gate : NULL;
	t->job = (struct job){.work = on_work, .done = on_done};
	snprintf(t->job.owner, sizeof t->job.owner, "%s", owner);
	cr_assert_eq(crew_send(crew, &t->job), want);
	return t;
}

Test(crew, threads_of_an_owner_are_limited_and_blocked_ones_reported)
{
	struct task *held[CREW_OWNER_MAX], *guests[CREW_OWNER_MAX];
	struct crew_counts n;
	close_crew();
	open_crew(&(struct crew_options){.stuck = on_stuck});
	for (unsigned i = 0; i < CREW_OWNER_MAX; i++) {
		held[i] = send_for("owner:a", true, 0);
		guests[i] = send_for("link:b", true, 0);
	}
	struct task *queued = send_for("owner:a", false, 0), *other = send_for("owner:c", false, 0);
	struct task *unowned = send_for("", false, 0);
	while (!(other->done == 1 && unowned->done == 1))
		uv_run(&loop, UV_RUN_ONCE);
	cr_assert_eq(queued->done, 0);
	cr_assert_eq(crew_count(crew, "owner:a"), CREW_OWNER_MAX + 1);
	/* Its deadline passes. */
	while (!(queued->done == 1))
		uv_run(&loop, UV_RUN_ONCE);
	cr_assert_eq(queued->error, -ERR_FILES_STUCK);
	/* The guests' jobs may have begun one tick of the clock later. */
	while (stuck_reported < 2 * CREW_OWNER_MAX)
		uv_run(&loop, UV_RUN_ONCE);
	cr_assert_eq(stuck_reported, 2 * CREW_OWNER_MAX);
	struct task *refused = send_for("owner:a", false, -ERR_FILES_STUCK);
	crew_get_counts(crew, &n);
	cr_assert_eq(n.stuck, 2 * CREW_OWNER_MAX);
	cr_assert_eq(n.stuck_total, 2 * CREW_OWNER_MAX);
	cr_assert_eq(n.refused_total, 2);
	/* A required job waits instead of being refused. */
	struct task *required = calloc(1, sizeof *required);
	required->job = (struct job){.work = on_work, .done = on_done, .owner = "owner:a"};
	crew_send_required(crew, &required->job);
	for (unsigned i = 0; i < 2 * CREW_OWNER_MAX; i++)
		uv_sem_post(&gate);
	while (!(required->done == 1 && held[0]->done == 1 && guests[0]->done == 1))
		uv_run(&loop, UV_RUN_ONCE);
	struct task *again = send_for("owner:a", false, 0);
	while (!(again->done == 1))
		uv_run(&loop, UV_RUN_ONCE);
	for (unsigned i = 0; i < CREW_OWNER_MAX; i++) {
		while (!(held[i]->done == 1 && guests[i]->done == 1))
			uv_run(&loop, UV_RUN_ONCE);
		free(held[i]);
		free(guests[i]);
	}
	crew_get_counts(crew, &n);
	cr_assert_eq(n.stuck, 0);
	free(queued);
	free(other);
	free(unowned);
	free(refused);
	free(required);
	free(again);
}
