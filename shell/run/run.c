/* See run.h. A run is going until its bash has ended, or until it has to go: then it is ending, and is killed. */
#include "pty/runner.h"
#include "pty/throwaway.h"
#include "shell/bounds.h"
#include "shell/preamble.h"
#include "shell/clock.h"
#include "shell/id.h"
#include "shell/store/directory.h"
#include "shell/environment.h"
#include "shell/run/internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define DRAIN_MAX ((size_t)256 << 10) /* more than a terminal can hold when its command has ended */
#define OWN_VARIABLES 3
#define ANSWER_MS 10000u /* after KILL, for its runner, where many are killed at once */
#define SURVIVE_MS 1000u /* after its first answer; then it is not worth waiting for */

/* Output */

/* Nothing comes from there any more. */
static void stream_end(struct run_output *s)
{
	s->ended = true;
	uv_poll_stop(&s->poll);
}

/* Read once. Returns bytes; 0 when there is nothing now, or never again. */
static size_t read_stream(struct run *r, enum run_stream which, size_t most)
{
	struct runs *all = r->all;
	struct run_output *s = &r->streams[which];
	ssize_t n;
	do
		n = read(s->fd, all->chunk, most < RUN_CHUNK ? most : RUN_CHUNK);
	while (n < 0 && errno == EINTR);
	/* EIO: nobody has the terminal open, and all has been read. */
	if (n == 0 || (n < 0 && errno != EAGAIN))
		stream_end(s);
	if (n <= 0)
		return 0;
	excerpt_add(&s->kept, all->chunk, (size_t)n, &all->budget);
	if (r->callbacks.output)
		r->callbacks.output(r->user, which, all->chunk, (size_t)n);
	return (size_t)n;
}

/* Whether nothing has an output of it open any more. */
static bool has_closed(const struct run *r)
{
	return r->streams[RUN_STDOUT].ended && r->streams[RUN_STDERR].ended;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;
	struct runs *all = r->all;
	enum run_stream which = poll == &r->streams[RUN_STDOUT].poll ? RUN_STDOUT : RUN_STDERR;
	(void)status; /* read() says it better */
	(void)events;
	/* A terminal gives a page at a time. */
	for (size_t left = RUN_CHUNK, n; left > 0 && all->turn > 0 && !r->paused; left -= n) {
		n = read_stream(r, which, left < all->turn ? left : all->turn);
		if (n == 0)
			break;
		all->turn -= n;
	}
	if (r->state == RUN_LINGERING && has_closed(r))
		run_finish(r);
}

static void on_timer(uv_timer_t *timer);

/* While its output is not wanted that time does not pass, but for the most. */
static void wait_for_writers(struct run *r)
{
	uint64_t ran = (uv_hrtime() - r->ended_ns) / 1000000;
	uint64_t left = ran < RUN_LINGER_MAX_MS ? RUN_LINGER_MAX_MS - ran : 0;
	if (!r->paused && left > RUN_LINGER_MS)
		left = RUN_LINGER_MS;
	uv_timer_start(&r->timer, on_timer, r->hurried ? 0 : left, 0);
}

void run_pause(struct run *r, bool pause)
{
	if (r->paused == pause || r->state == RUN_OVER)
		return;
	r->paused = pause;
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		struct run_output *s = &r->streams[i];
		if (pause)
			uv_poll_stop(&s->poll);
		else if (!s->ended)
			uv_poll_start(&s->poll, UV_READABLE, on_readable);
	}
	if (r->state == RUN_LINGERING)
		wait_for_writers(r);
}

/* What was written before the end: all that a terminal gives now, or as much as there is in a pipe. */
static void drain_stream(struct run *r, enum run_stream which)
{
	size_t left = DRAIN_MAX;
	int waiting = 0;
	if (!r->terminals && ioctl(r->streams[which].fd, FIONREAD, &waiting) == 0)
		left = (size_t)waiting;
	while (left > 0) {
		size_t n = read_stream(r, which, left);
		if (n == 0)
			break;
		left -= n < left ? n : left;
	}
	/* Whether that is all, only another read tells. */
	if (!r->streams[which].ended)
		(void)read_stream(r, which, RUN_CHUNK);
}

void run_drain(struct run *r)
{
	for (unsigned i = 0; i < RUN_STREAMS && r->state != RUN_OVER; i++)
		if (!r->streams[i].ended)
			drain_stream(r, (enum run_stream)i);
}

/* The end */

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

/* What it used is given back; the memory goes when the loop has turned. Its runner is watched until that has ended. */
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
	(void)!send(r->socket_fd, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT); /* it may have ended */
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
	/* Without a word of ours the runner ends what there is. */
	if (!whole)
		tell_runner(r, RUNNER_RELEASE);
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		if (!r->streams[i].ended)
			drain_stream(r, (enum run_stream)i);
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
		.open = !has_closed(r)};
	DL_DELETE(all->list, r);
	all->count--;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		result.output[i] = excerpt_parts(&r->streams[i].kept);
	close_handles(r);
	bounds_leave(all->config.bounds, run_group(r->mark, group), whole);
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
	r->left += r->left == 0; /* until it says otherwise */
	if (grace_ms == 0) {
		kill_run(r);
		return;
	}
	if (r->state == RUN_GOING)
		tell_runner(r, RUNNER_TERMINATE);
	r->state = RUN_ENDING;
	uv_timer_start(&r->timer, on_timer, grace_ms, 0);
}

void run_forget(struct run *r)
{
	pid_t pid;
	DL_DELETE(r->all->lost, r);
	do
		pid = waitpid(r->runner, NULL, WNOHANG);
	while (pid < 0 && errno == EINTR);
	close_handle((uv_handle_t *)&r->exit);
	close(r->pidfd);
}

/* The command has ended by itself: what it has left may still write. */
static void linger(struct run *r)
{
	run_drain(r);
	if (r->state != RUN_GOING)
		return; /* whoever was told of the output has cancelled it */
	if (has_closed(r)) {
		run_finish(r);
		return;
	}
	r->state = RUN_LINGERING;
	wait_for_writers(r);
}

/* The command has ended. It may have left others. */
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

/* It looks for them once more each time that it kills. */
static void note_left(struct run *r, unsigned left)
{
	r->left = left;
	if (r->state == RUN_KILLING && !r->answered)
		uv_timer_start(&r->timer, on_timer, SURVIVE_MS, 0);
	r->answered = true;
}

void run_hear(struct run *r)
{
	struct runner_message m;
	ssize_t n = 0;
	while (r->state != RUN_OVER) {
		n = recv(r->socket_fd, &m, sizeof m, MSG_DONTWAIT);
		/* It ended with something of ours unread: that is told once, and what it has said follows. */
		if (n < 0 && (errno == ECONNRESET || errno == EINTR))
			continue;
		if (n != sizeof m)
			break;
		if (m.type == RUNNER_ENDED)
			note_end(r, m.value);
		if (m.type == RUNNER_LEFT)
			note_left(r, m.value > 0 ? (unsigned)m.value : 0);
		if (m.type == RUNNER_LEFT && m.value == 0 && r->state != RUN_OVER)
			run_finish(r);
	}
	/* It has been killed: by whom is not known, nor what it has left. */
	if (r->state != RUN_OVER && n == 0)
		run_finish(r);
}

static void on_socket_readable(uv_poll_t *poll, int status, int events)
{
	(void)status; /* recv() says it better */
	(void)events;
	run_hear(poll->data);
}

static void on_exit_readable(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;
	(void)status;
	(void)events;
	uv_poll_stop(&r->exit);
	if (r->state != RUN_OVER)
		run_hear(r);
	if (r->state != RUN_OVER)
		run_finish(r); /* it has been killed */
	run_forget(r);
}

/* In this order: its time limit, the end of its grace, the end of our patience. */
static void on_timer(uv_timer_t *timer)
{
	struct run *r = timer->data;
	enum run_state before = r->state;
	run_hear(r); /* it may have ended in time, and we are late */
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
	if (r->state == RUN_LINGERING) { /* it has ended by itself */
		r->hurried = true;
		wait_for_writers(r);
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

/* The beginning */

/* Whether PWD may have this name: then bash shows it, symbolic links and all. */
static bool is_canonical(const char *path)
{
	return !strstr(path, "/./") && !strstr(path, "/../") && !strstr(path, "//") &&
		(strlen(path) < 2 || strcmp(path + strlen(path) - 2, "/.") != 0) &&
		(strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

/* What a command gets: what we were started with, a place, no pager, what is asked for. */
static char **make_environment(const struct runs *all, const struct run_options *o)
{
	size_t n = 0;
	const char **names = calloc(2 * (o->env_count + OWN_VARIABLES), sizeof *names);
	if (!names)
		return NULL;
	const char **values = names + o->env_count + OWN_VARIABLES;
	if (is_canonical(o->cwd)) {
		names[n] = "PWD";
		values[n++] = o->cwd;
	}
	if (o->terminals) {
		/* They would wait for keys that nobody presses. */
		names[n] = "PAGER";
		values[n++] = "cat";
		names[n] = "GIT_PAGER";
		values[n++] = "cat";
	}
	for (size_t i = 0; i < o->env_count; i++) {
		names[n] = o->env_names[i];
		values[n++] = o->env_values[i];
	}
	char **environment = environment_create(all->config.environment, names, values, n);
	free(names);
	return bounds_environment(environment);
}

/* The command behind what it takes over from a session; aliases apply to the lines that follow theirs. */
static char *make_script(const struct run_options *o, size_t *ret_length)
{
	const struct preamble parts = {.text = o->preamble,
		.length = o->preamble_length,
		.env_names = o->env_names,
		.env_values = o->env_values,
		.env_count = o->env_count};
	size_t length;
	char *preamble = preamble_text(&parts, &length);
	char *script = preamble ? realloc(preamble, length + o->command_length + 1) : NULL;
	if (!script) {
		free(preamble);
		return NULL;
	}
	memcpy(script + length, o->command, o->command_length);
	*ret_length = length + o->command_length;
	script[*ret_length] = '\0';
	return script;
}

/* Start the command itself. */
static int start_child(struct runs *all, const struct run_options *o, const char *mark,
	struct throwaway *ret_child)
{
	size_t length = o->command_length;
	char *script = NULL, **environment = make_environment(all, o);
	if (!environment || (o->preamble && !(script = make_script(o, &length)))) {
		environment_destroy(environment);
		return -ENOMEM;
	}
	char group[RUN_GROUP_SIZE];
	struct bounded bounded;
	int rc = bounds_command(all->config.bounds, run_group(mark, group), o->cwd, &bounded);
	if (rc < 0) {
		environment_destroy(environment);
		free(script);
		return rc;
	}
	struct throwaway_options options = {
		.wrapper = bounded.wrapper,
		.filter_fd = bounded.filter_fd,
		.group_fd = bounded.group_fd,
		.tasks = all->config.bounds->tasks,
		.memory = all->config.bounds->memory,
		.owner = bounded.owner,
		.holder = all->config.holder,
		.spares = o->spares,
		.input_fd = o->input_fd,
		.bash = all->bash,
		.command = script ? script : o->command,
		.command_length = length,
		.secret = script != NULL,
		.cwd = o->cwd,
		.envp = environment,
		.input = o->input,
		.input_length = o->input_length,
		.terminals = o->terminals,
		.rows = o->rows,
		.cols = o->cols,
		.nofile = all->config.nofile,
	};
	rc = throwaway_start(&options, ret_child);
	bounds_release(&bounded);
	if (rc < 0)
		bounds_leave(all->config.bounds, group, true);
	environment_destroy(environment);
	free(script);
	if (rc == -ENOENT || rc == -EACCES || rc == -ENOTDIR) {
		/* Is it the directory, which has gone meanwhile, or bash? */
		int again = directory_check(o->cwd);
		rc = again < 0 ? again : -ENOEXEC;
	}
	return rc;
}

static void init_poll(struct run *r, uv_poll_t *poll, int fd, uv_poll_cb callback)
{
	/* Only memory could be wanting for epoll to take these, and libuv ends the program then. */
	int rc = uv_poll_init(r->all->loop, poll, fd);
	assert(rc == 0);
	poll->data = r;
	r->open_handles++;
	uv_poll_start(poll, UV_READABLE, callback);
}

static void watch_child(struct run *r, const struct throwaway *child, uint64_t timeout_ms)
{
	const int fds[] = {child->out, child->err};
	r->runner = child->runner;
	r->pidfd = child->pidfd;
	r->socket_fd = child->socket_fd;
	init_poll(r, &r->exit, child->pidfd, on_exit_readable);
	init_poll(r, &r->socket, child->socket_fd, on_socket_readable);
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		r->streams[i].fd = fds[i];
		init_poll(r, &r->streams[i].poll, fds[i], on_readable);
	}
	uv_timer_init(r->all->loop, &r->timer);
	r->timer.data = r;
	r->open_handles++;
	/* The loop's time may be older than the command. */
	uv_update_time(r->all->loop);
	if (timeout_ms > 0)
		uv_timer_start(&r->timer, on_timer, timeout_ms, 0);
}

int run_start(struct runs *all, const struct run_options *o, const struct run_callbacks *callbacks,
	void *user, struct run **ret_run)
{
	struct throwaway child;
	if (o->command_length == 0 || o->command_length > RUN_COMMAND_MAX ||
		memchr(o->command, '\0', o->command_length))
		return -EINVAL;
	int rc = directory_recall(&o->found, o->cwd);
	if (rc < 0)
		return rc;
	if (all->count >= RUNS_MAX)
		return -EUSERS;
	struct run *r = calloc(1, sizeof *r);
	if (!r)
		return -ENOMEM;
	rc = id_hex(r->mark, sizeof r->mark);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->started_ms = clock_wall_ms();
	r->started_ns = uv_hrtime();
	rc = start_child(all, o, r->mark, &child);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->all = all;
	r->callbacks = *callbacks;
	r->user = user;
	r->terminals = o->terminals;
	r->whole = o->whole;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		excerpt_init(&r->streams[i].kept,
			o->output_max < RUN_OUTPUT_MAX ? o->output_max : RUN_OUTPUT_MAX);
	watch_child(r, &child, o->timeout_ms);
	DL_APPEND(all->list, r);
	all->count++;
	*ret_run = r;
	if (r->callbacks.started)
		r->callbacks.started(user, child.pid);
	return 0;
}
