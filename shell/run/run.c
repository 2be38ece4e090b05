/* See run.h. The life of a run once it has been started. */
#include "pty/runner.h"
#include "pty/throwaway.h"
#include "shell/bounds.h"
#include "shell/clock.h"
#include "shell/run/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define ANSWER_MS 10000u /* after KILL, for the runner's first report, if many are killed at once */
#define SURVIVE_MS 1000u /* after that report; then the rest counts as survivors */

static void on_timer(uv_timer_t *timer);

/* The end */

void run_wait_for_writers(struct run *r)
{
	uint64_t ran = (uv_hrtime() - r->ended_ns) / 1000000;
	uint64_t left = ran < RUN_LINGER_MAX_MS ? RUN_LINGER_MAX_MS - ran : 0;
	if (!r->paused && left > RUN_LINGER_MS)
		left = RUN_LINGER_MS;
	uv_timer_start(&r->timer, on_timer, r->hurried ? 0 : left, 0);
}

static void on_run_handle_closed(uv_handle_t *handle)
{
	struct run *r = handle->data;
	if (--r->open_handles == 0)
		free(r);
}

static void close_handle(uv_handle_t *handle)
{
	uv_close(handle, on_run_handle_closed);
}

/* Close all but the runner's pidfd, which is watched until the runner has exited. */
static void close_handles(struct run *r)
{
	close_handle((uv_handle_t *)&r->timer);
	close_handle((uv_handle_t *)&r->socket);
	close(r->socket_fd);
	r->socket_fd = -1;
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		close_handle((uv_handle_t *)&r->streams[i].poll);
		close(r->streams[i].fd);
	}
}

static void tell_runner(const struct run *r, enum runner_type type)
{
	const struct runner_message m = {.type = (uint32_t)type};
	/* The runner may have exited. */
	(void)!send(r->socket_fd, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

const char *run_group(const char *mark, char ret_name[RUN_GROUP_SIZE])
{
	snprintf(ret_name, RUN_GROUP_SIZE, "run-%s", mark);
	return ret_name;
}

void run_finish(struct run *r)
{
	char group[RUN_GROUP_SIZE];
	struct runs *all = r->all;
	bool whole = r->state > RUN_LINGERING || !r->exited; /* or its runner has been killed */
	assert(r->state != RUN_OVER);
	r->state = RUN_OVER;
	uv_timer_stop(&r->timer);
	/* Without this message the runner kills the rest. */
	if (!whole)
		tell_runner(r, RUNNER_RELEASE);
	run_drain(r);
	if (whole) {
		r->ended_ms = clock_wall_ms();
		r->ended_ns = uv_hrtime();
	}
	struct run_result result = {.timed_out = r->timed_out,
		.cancelled = r->cancelled,
		.status = r->exited ? r->status : SIGKILL,
		.started_ms = r->started_ms,
		.ended_ms = r->ended_ms,
		.duration_us = (r->ended_ns - r->started_ns) / 1000,
		.survivors = whole ? r->left : 0,
		.open = !run_output_has_ended(r)};
	DL_DELETE(all->list, r);
	all->count--;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		result.output[i] = excerpt_parts(&r->streams[i].kept);
	close_handles(r);
	bounds_release_group(all->config.bounds, run_group(r->mark, group), whole);
	DL_APPEND(all->lost, r);
	if (r->callbacks.done)
		r->callbacks.done(r->user, &result);
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		all->budget += r->streams[i].kept.capacity;
		excerpt_finish(&r->streams[i].kept);
	}
}

static void kill_run(struct run *r)
{
	char group[RUN_GROUP_SIZE];
	r->state = RUN_KILLING;
	tell_runner(r, RUNNER_KILL);
	bounds_kill(r->all->config.bounds, run_group(r->mark, group));
	uv_timer_start(&r->timer, on_timer, ANSWER_MS, 0);
}

static void end_run(struct run *r, uint64_t grace_ms)
{
	uint64_t kill_at = uv_now(r->all->loop) + grace_ms;
	if (r->state == RUN_KILLING || (r->state == RUN_ENDING && kill_at >= r->kill_at_ms))
		return;
	r->kill_at_ms = kill_at;
	r->left += r->left == 0; /* until the runner reports a number */
	if (grace_ms == 0) {
		kill_run(r);
		return;
	}
	if (r->state == RUN_GOING)
		tell_runner(r, RUNNER_TERMINATE);
	r->state = RUN_ENDING;
	uv_timer_start(&r->timer, on_timer, grace_ms, 0);
}

void run_release_runner(struct run *r)
{
	pid_t pid;
	DL_DELETE(r->all->lost, r);
	do
		pid = waitpid(r->runner, NULL, WNOHANG);
	while (pid < 0 && errno == EINTR);
	close_handle((uv_handle_t *)&r->exit);
	close(r->pidfd);
}

/* The command has ended by itself; processes that it has left may still write. */
static void linger(struct run *r)
{
	run_drain(r);
	if (r->state != RUN_GOING)
		return; /* the output callback has cancelled it */
	if (run_output_has_ended(r)) {
		run_finish(r);
		return;
	}
	r->state = RUN_LINGERING;
	run_wait_for_writers(r);
}

/* The command has ended. It may have left processes. */
static void note_end(struct run *r, int status)
{
	r->exited = true;
	r->status = status;
	r->ended_ms = clock_wall_ms();
	r->ended_ns = uv_hrtime();
	if (r->state != RUN_GOING)
		return;
	if (r->whole)
		end_run(r, 0);
	else
		linger(r);
}

/* The runner has reported how many processes are left. It does so after each round of kills. */
static void note_left(struct run *r, unsigned left)
{
	r->left = left;
	if (r->state == RUN_KILLING && !r->answered)
		uv_timer_start(&r->timer, on_timer, SURVIVE_MS, 0);
	r->answered = true;
}

void run_read_messages(struct run *r)
{
	struct runner_message m;
	ssize_t n = 0;
	while (r->state != RUN_OVER) {
		n = recv(r->socket_fd, &m, sizeof m, MSG_DONTWAIT);
		/* ECONNRESET: it exited with a message of ours unread. Its own messages follow. */
		if (n < 0 && (errno == ECONNRESET || errno == EINTR))
			continue;
		if (n != sizeof m)
			break;
		if (m.type == RUNNER_ENDED)
			note_end(r, m.value);
		if (m.type == RUNNER_SURVIVORS)
			note_left(r, m.value > 0 ? (unsigned)m.value : 0);
		if (m.type == RUNNER_SURVIVORS && m.value == 0 && r->state != RUN_OVER)
			run_finish(r);
	}
	/* The runner was killed from outside; what it has left is not known. */
	if (r->state != RUN_OVER && n == 0)
		run_finish(r);
}

static void on_socket_readable(uv_poll_t *poll, int status, int events)
{
	(void)status; /* recv() reports errors */
	(void)events;
	run_read_messages(poll->data);
}

static void on_exit_readable(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;
	(void)status;
	(void)events;
	uv_poll_stop(&r->exit);
	if (r->state != RUN_OVER)
		run_read_messages(r);
	if (r->state != RUN_OVER)
		run_finish(r); /* the runner was killed */
	run_release_runner(r);
}

/* The time limit, the end of the grace, or the end of a wait. */
static void on_timer(uv_timer_t *timer)
{
	struct run *r = timer->data;
	enum run_state before = r->state;
	run_read_messages(r); /* it may have ended in time, unread so far */
	if (r->state != before)
		return;
	if (r->state == RUN_GOING) {
		r->timed_out = true;
		end_run(r, RUN_GRACE_MS);
	} else if (r->state == RUN_ENDING) {
		kill_run(r);
	} else if (r->state == RUN_LINGERING || r->state == RUN_KILLING) {
		run_finish(r);
	}
}

void run_cancel(struct run *r, unsigned grace_ms)
{
	if (r->state == RUN_OVER)
		return;
	if (r->state == RUN_LINGERING) { /* its command has ended already */
		r->hurried = true;
		run_wait_for_writers(r);
		return;
	}
	r->cancelled |= r->state == RUN_GOING;
	end_run(r, grace_ms);
}

int run_exit_code(const struct run_result *result)
{
	if (result->timed_out)
		return RUN_TIMEOUT_CODE;
	return WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status)
					   : WEXITSTATUS(result->status);
}

/* Its handles */

void run_watch(struct run *r, uv_poll_t *poll, int fd, uv_poll_cb callback)
{
	/* Fails only when memory is short, and then libuv aborts. */
	int rc = uv_poll_init(r->all->loop, poll, fd);
	assert(rc == 0);
	poll->data = r;
	r->open_handles++;
	uv_poll_start(poll, UV_READABLE, callback);
}

void run_watch_child(struct run *r, const struct throwaway *child, uint64_t timeout_ms)
{
	r->runner = child->runner;
	r->pidfd = child->pidfd;
	r->socket_fd = child->socket_fd;
	run_watch(r, &r->exit, child->pidfd, on_exit_readable);
	run_watch(r, &r->socket, child->socket_fd, on_socket_readable);
	run_watch_output(r, child->out, child->err);
	uv_timer_init(r->all->loop, &r->timer);
	r->timer.data = r;
	r->open_handles++;
	/* The loop's time may be older than the command. */
	uv_update_time(r->all->loop);
	if (timeout_ms > 0)
		uv_timer_start(&r->timer, on_timer, timeout_ms, 0);
}
