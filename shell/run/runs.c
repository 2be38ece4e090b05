/* All runs: opening, closing, and what they share. */
#include "shell/clock.h"
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
#define CLOSE_ROUNDS 500
#define CLOSE_PAUSE_MS 2

static void on_turn(uv_prepare_t *begin)
{
	struct runs *all = begin->data;
	all->turn = TURN_BYTES;
}

/* Find bash in the PATH of the inherited environment. */
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
	find_bash(all);
	uv_prepare_init(loop, &all->begin);
	all->begin.data = all;
	uv_prepare_start(&all->begin, on_turn);
	uv_unref((uv_handle_t *)&all->begin);
	*ret_runs = all;
	return 0;
}

void runs_cancel_all(struct runs *all, unsigned grace_ms)
{
	struct run *r;
	DL_FOREACH (all->list, r)
		run_cancel(r, grace_ms);
}

unsigned runs_count(const struct runs *all, uint64_t min_age_ms)
{
	unsigned count = 0;
	uint64_t now_ms = clock_wall_ms();
	const struct run *r;
	DL_FOREACH (all->list, r)
		count += now_ms >= r->started_ms + min_age_ms;
	return count;
}

bool runs_idle(const struct runs *all)
{
	return all->count == 0;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* Kill everything that runs have started, and wait for that for a limited time. */
static void kill_all(struct runs *all)
{
	struct run *r, *next;
	DL_FOREACH_SAFE (all->list, r, next)
		if (r->state == RUN_LINGERING)
			run_finish(r);
	runs_cancel_all(all, 0);
	for (unsigned round = 0; all->list && round < CLOSE_ROUNDS; round++) {
		poll(NULL, 0, round > 0 ? CLOSE_PAUSE_MS : 0);
		DL_FOREACH_SAFE (all->list, r, next)
			run_read_messages(r);
	}
	while (all->list)
		run_finish(all->list);
	/* Their runners exit by themselves. */
	int left = CLOSE_ROUNDS * CLOSE_PAUSE_MS;
	while (all->lost) {
		struct pollfd over = {.fd = all->lost->pidfd, .events = POLLIN};
		int rc = poll(&over, 1, left);
		if (rc < 0 && errno == EINTR)
			continue;
		left = rc == 0 ? 0 : left;
		run_release_runner(all->lost);
	}
}

void runs_close(struct runs *all)
{
	if (!all)
		return;
	kill_all(all);
	uv_close((uv_handle_t *)&all->begin, on_closed);
}
