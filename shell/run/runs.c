/*
 * All runs. Those that are ending share a look at all processes ("hunt"), at first at once, then less and
 * less often. Bash's status is taken last, so that its number stands for its group until nobody is signalled
 * any more.
 */
#include "pty/marked.h"
#include "shell/bounds.h"
#include "shell/program.h"
#include "shell/run/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define TURN_BYTES ((size_t)1 << 20) /* read in one turn of the loop, of all runs */
#define HUNT_MIN_MS 5u
#define HUNT_MAX_MS 100u
#define SURVIVE_MS 1000u /* after KILL; then it is not worth waiting for */
#define CLOSE_ROUNDS 500
#define CLOSE_PAUSE_MS 2

static void on_hunt(uv_timer_t *timer);

void runs_hunt_soon(struct runs *all)
{
	all->hunt_ms = HUNT_MIN_MS;
	uv_timer_start(&all->hunt, on_hunt, 0, 0);
}

/* The run that a process belongs to, if that is ending. */
static struct run *run_of(struct runs *all, const struct marked_process *k)
{
	struct run *r;
	DL_FOREACH (all->list, r)
		if (r->state == RUN_ENDING && (k->session == r->pid || strcmp(k->mark, r->mark) == 0))
			return r;
	return NULL;
}

static void on_marked(void *user, const struct marked_process *k)
{
	struct runs *all = user;
	struct run *r = run_of(all, k);
	if (!r || k->pid == getpid())
		return;
	r->marked++;
	if (uv_now(all->loop) >= r->kill_at_ms) {
		marked_signal(RUN_MARK, k, SIGKILL);
	} else if (!r->told && k->group != r->pid) {
		marked_signal(RUN_MARK, k, SIGTERM);
		marked_signal(RUN_MARK, k, SIGCONT);
	}
}

/* Look after a run that is ending. */
static void judge_run(struct run *r)
{
	uint64_t now = uv_now(r->all->loop);
	r->told = true;
	if (r->exited && r->marked == 0)
		run_finish(r);
	else if (now >= r->kill_at_ms + SURVIVE_MS)
		run_finish(r);
}

static void on_hunt(uv_timer_t *timer)
{
	struct runs *all = timer->data;
	struct run *r, *next;
	char group[RUN_GROUP_SIZE];
	DL_FOREACH (all->list, r) {
		r->marked = 0;
		if (r->state != RUN_ENDING || uv_now(all->loop) < r->kill_at_ms)
			continue;
		kill(-r->pid, SIGKILL);
		bounds_kill(all->config.bounds, run_group(r->mark, group));
	}
	int rc = marked_each(RUN_MARK, on_marked, all);
	bool more = false;
	DL_FOREACH_SAFE (all->list, r, next) {
		if (r->state != RUN_ENDING)
			continue;
		/* Without a look nobody is known to be gone. */
		r->marked += rc < 0;
		judge_run(r);
	}
	DL_FOREACH (all->list, r)
		more |= r->state == RUN_ENDING;
	if (more && !uv_is_active((uv_handle_t *)&all->hunt)) {
		uv_timer_start(&all->hunt, on_hunt, all->hunt_ms, 0);
		all->hunt_ms = all->hunt_ms * 2 < HUNT_MAX_MS ? all->hunt_ms * 2 : HUNT_MAX_MS;
	}
}

static void on_turn(uv_prepare_t *begin)
{
	struct runs *all = begin->data;
	all->turn = TURN_BYTES;
}

/* Where bash is, as the shell that started us would find it. */
static void find_bash(struct runs *all)
{
	const char *path = NULL;
	for (char *const *e = all->config.environment; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			path = *e + 5;
	if (!program_find(path, "bash", all->bash))
		snprintf(all->bash, sizeof all->bash, "/bin/bash");
}

int runs_open(uv_loop_t *loop, const struct runs_config *config, struct runs **ret_runs)
{
	struct runs *all = calloc(1, sizeof *all);
	if (!all)
		return -ENOMEM;
	all->loop = loop;
	all->config = *config;
	if (!all->config.bounds)
		all->config.bounds = &bounds_none;
	all->budget = RUNS_MEMORY_MAX;
	all->turn = TURN_BYTES;
	int rc = run_notes_open(&all->notes, config->dir, RUN_MARK);
	if (rc < 0) {
		free(all);
		return rc;
	}
	find_bash(all);
	uv_prepare_init(loop, &all->begin);
	uv_timer_init(loop, &all->hunt);
	all->begin.data = all->hunt.data = all;
	uv_prepare_start(&all->begin, on_turn);
	uv_unref((uv_handle_t *)&all->begin);
	all->open_handles = 2;
	*ret_runs = all;
	return 0;
}

void runs_cancel_all(struct runs *all, unsigned grace_ms)
{
	struct run *r;
	DL_FOREACH (all->list, r)
		run_cancel(r, grace_ms);
}

bool runs_idle(const struct runs *all)
{
	return all->count == 0;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct runs *all = handle->data;
	if (--all->open_handles == 0)
		free(all);
}

/* Kill everything that runs have started, and wait for it, but not for ever. */
static void kill_all(struct runs *all)
{
	runs_cancel_all(all, 0);
	for (unsigned round = 0; all->list && round < CLOSE_ROUNDS; round++) {
		struct run *r;
		poll(NULL, 0, round > 0 ? CLOSE_PAUSE_MS : 0);
		uv_update_time(all->loop);
		DL_FOREACH (all->list, r) {
			struct pollfd over = {.fd = r->pidfd, .events = POLLIN};
			r->exited = poll(&over, 1, 0) > 0;
		}
		on_hunt(&all->hunt);
	}
	while (all->list)
		run_finish(all->list);
	while (all->lost)
		run_forget(all->lost);
}

void runs_close(struct runs *all)
{
	if (!all)
		return;
	kill_all(all);
	run_notes_close(&all->notes);
	uv_handle_t *handles[] = {(uv_handle_t *)&all->begin, (uv_handle_t *)&all->hunt};
	for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
		uv_close(handles[i], on_handle_closed);
}
