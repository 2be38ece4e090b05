/*
 * If running is set, the first code of the queue runs. The timer limits the start, the running code, or the
 * idle time.
 */
#include "shell/context/context.h"

#include "shell/id.h"
#include "shell/output/excerpt.h"
#include "shell/own_error.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct code {
	struct code *prev, *next;
	struct context *context;
	const struct code_callbacks *callbacks; /* NULL: abandoned */
	void *user;
	char *text; /* owned */
	size_t length;
	uint64_t timeout_ms;
	bool timed_out;
};

struct context {
	struct context *prev, *next;
	struct contexts *all;
	const struct context_callbacks *callbacks;
	void *user;
	char id[CONTEXT_ID_SIZE];
	enum language language;
	char *cwd;  /* owned */
	char **env; /* owned: names, then values */
	size_t env_count;
	struct interpreter *executor; /* NULL: none now */
	bool ready;                   /* the executor accepts code */
	bool started;                 /* started() was called */
	bool running;                 /* the first code of the queue runs */
	bool stopping;                /* it was interrupted and will be killed */
	bool lost;                    /* an executor died, which was not reported yet */
	bool late;                    /* the executor did not start in time */
	bool removed, unused, closed;
	uint64_t run; /* number of the last code that was run */
	struct code *queue;
	unsigned queued;
	uv_timer_t timer;
	struct excerpt idle[RUN_STREAMS]; /* written while nothing ran */
};

struct contexts {
	uv_loop_t *loop;
	struct runs *runs;
	uint64_t ttl_ms;
	struct context *list;
	unsigned count;
	size_t idle_budget; /* bytes of idle output that all contexts may still keep */
};

static void run_next(struct context *c);
static void on_timer(uv_timer_t *timer);

/* Memory */

static void context_free(struct context *c)
{
	for (size_t i = 0; c->env && i < 2 * c->env_count; i++)
		free(c->env[i]);
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		excerpt_finish(&c->idle[i]);
	free(c->env);
	free(c->cwd);
	free(c);
}

static void on_timer_closed(uv_handle_t *handle)
{
	context_free(handle->data);
}

/* Close a context once it is removed and its executor has ended. */
static void maybe_close(struct context *c)
{
	if (!c->removed || c->executor || c->closed)
		return;
	c->closed = true;
	assert(!c->queue);
	DL_DELETE(c->all->list, c);
	c->all->count--;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		c->all->idle_budget += c->idle[i].capacity;
	uv_close((uv_handle_t *)&c->timer, on_timer_closed);
	c->callbacks->removed(c->user, c->unused);
}

static void code_free(struct code *code)
{
	free(code->text);
	free(code);
}

/* Output while nothing runs */

static void keep_idle(struct context *c, enum run_stream stream, const void *bytes, size_t length)
{
	excerpt_add(&c->idle[stream], bytes, length, &c->all->idle_budget);
}

static void reset_idle(struct context *c, unsigned stream)
{
	c->all->idle_budget += c->idle[stream].capacity;
	excerpt_finish(&c->idle[stream]);
	excerpt_init(&c->idle[stream], CONTEXT_IDLE_OUTPUT);
}

static void deliver_idle(struct context *c, struct code *code)
{
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		enum run_stream stream = (enum run_stream)i;
		struct excerpt_parts p = excerpt_parts(&c->idle[i]);
		if (p.head_length > 0)
			code->callbacks->output(code->user, stream, p.head, p.head_length);
		if (p.omitted > 0)
			code->callbacks->missed(code->user, stream, p.omitted);
		if (p.tail_length > 0)
			code->callbacks->output(code->user, stream, p.tail, p.tail_length);
		reset_idle(c, i);
	}
}

/* Code */

/* The running code, or NULL. */
static struct code *running_code(const struct context *c)
{
	return c->running ? c->queue : NULL;
}

/* The first code of the queue has ended. */
static void end_first(struct context *c, const struct code_end *end)
{
	struct code *code = c->queue;
	DL_DELETE(c->queue, code);
	c->queued--;
	if (c->running)
		uv_timer_stop(&c->timer);
	c->running = c->stopping = false;
	if (code->callbacks)
		code->callbacks->done(code->user, end);
	code_free(code);
}

/* End all code of the queue. */
static void end_queue(struct context *c, const struct code_end *end)
{
	/* done() may queue more code at the end: that is not ended here. */
	for (unsigned left = c->queued; left > 0 && c->queue; left--)
		end_first(c, end);
}

/* Interrupt the running code; on_timer() kills the executor if it does not end. */
static void stop(struct context *c)
{
	c->stopping = true;
	interpreter_pause(c->executor, false);
	interpreter_interrupt(c->executor, c->run);
	uv_timer_start(&c->timer, on_timer, CONTEXT_GRACE_MS, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct context *c = timer->data;
	struct code *code = running_code(c);
	if (!c->executor)
		return;
	if (!c->ready)
		c->late = true;
	if (!c->ready || !code || c->stopping) {
		interpreter_kill(c->executor);
		return;
	}
	code->timed_out = true;
	stop(c);
}

static void begin_first(struct context *c)
{
	struct code *code = c->queue;
	c->running = true;
	int rc = interpreter_execute(c->executor, ++c->run, code->text, code->length);
	if (rc < 0) {
		/* It may have received a part of the frame. */
		interpreter_kill(c->executor);
		return;
	}
	free(code->text);
	code->text = NULL;
	uv_timer_stop(&c->timer);
	/* The loop's time may be outdated. */
	uv_update_time(c->all->loop);
	if (code->timeout_ms > 0)
		uv_timer_start(&c->timer, on_timer, code->timeout_ms, 0);
	code->callbacks->begun(code->user);
	/* begun() may have abandoned the code. */
	if (code == running_code(c) && code->callbacks)
		deliver_idle(c, code);
}

static void on_result(struct context *c, json_t *record)
{
	struct code *code = running_code(c);
	if (!code || !code->callbacks)
		return;
	if (record && json_integer_value(json_object_get(record, "run")) != (json_int_t)c->run)
		return;
	if (record)
		json_object_del(record, "run");
	code->callbacks->result(code->user, record);
}

static void on_code_done(struct context *c, json_t *record)
{
	struct code *code = running_code(c);
	const json_t *error = json_object_get(record, "error");
	if (!record || !code ||
		json_integer_value(json_object_get(record, "run")) != (json_int_t)c->run) {
		/* User code has sent this frame: the executor's state is unknown. */
		interpreter_kill(c->executor);
		return;
	}
	struct code_end end = {.how = code->timed_out ? CODE_TIMED_OUT
			: error                       ? CODE_RAISED
						      : CODE_COMPLETE,
		.count = (uint64_t)json_integer_value(json_object_get(record, "count")),
		.error = json_is_object(error) ? error : NULL};
	interpreter_pause(c->executor, false);
	end_first(c, &end);
	run_next(c);
}

/* The executor */

static void on_ready(void *user)
{
	struct context *c = user;
	if (c->ready)
		return;
	c->ready = true;
	uv_timer_stop(&c->timer);
	if (!c->started) {
		c->started = true;
		c->callbacks->started(c->user, c, 0);
	}
	if (c->executor)
		run_next(c);
}

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct context *c = user;
	struct code *code = running_code(c);
	if (!code)
		keep_idle(c, stream, bytes, length);
	else if (code->callbacks)
		code->callbacks->output(code->user, stream, bytes, length);
}

static void on_record(void *user, enum executor_record_type type, json_t *record)
{
	if (type == EXECUTOR_RESULT)
		on_result(user, record);
	else
		on_code_done(user, record);
}

static int start_error(const struct context *c, int exit_code)
{
	if (c->removed)
		return -ECANCELED;
	return c->late ? -ETIMEDOUT : exit_code == LANGUAGE_MISSING ? -ERR_NOT_INSTALLED : -EIO;
}

static void on_ended(void *user, int exit_code, bool broken)
{
	struct context *c = user;
	struct code *code = running_code(c);
	bool was_ready = c->ready;
	int error = was_ready ? 0 : start_error(c, exit_code);
	uv_timer_stop(&c->timer);
	c->executor = NULL;
	c->ready = c->late = false;
	c->run = 0;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		reset_idle(c, i);
	/* If no callback reports the loss, code_start() does. */
	bool reported = c->queued > 1 || (code ? code->callbacks != NULL : c->queued == 1);
	c->lost = was_ready && !reported;
	struct code_end end = {.how = c->removed  ? CODE_REMOVED
			: code && code->timed_out ? CODE_TIMED_OUT
						  : CODE_DIED,
		.lost = true,
		.broken = broken,
		.exit_code = exit_code};
	if (code)
		end_first(c, &end);
	end = (struct code_end){.how = c->removed ? CODE_REMOVED : CODE_LOST,
		.lost = was_ready,
		.start_error = error};
	end_queue(c, &end);
	if (!c->started) {
		c->started = c->removed = true;
		if (c->callbacks->started)
			c->callbacks->started(c->user, NULL, error);
	}
	run_next(c);
	maybe_close(c);
}

static int start_executor(struct context *c, const struct directory_found *found)
{
	static const struct interpreter_callbacks callbacks = {
		.ready = on_ready, .output = on_output, .record = on_record, .ended = on_ended};
	const struct interpreter_options options = {.language = c->language,
		.cwd = c->cwd,
		.found = *found,
		.env_names = (const char *const *)c->env,
		.env_values = (const char *const *)c->env + c->env_count,
		.env_count = c->env_count};
	int rc = interpreter_start(
		c->all->loop, c->all->runs, &options, &callbacks, c, &c->executor);
	uv_update_time(c->all->loop);
	if (rc == 0)
		uv_timer_start(&c->timer, on_timer, CONTEXT_START_MS, 0);
	return rc;
}

static void on_unused(uv_timer_t *timer)
{
	struct context *c = timer->data;
	c->unused = true;
	context_remove(c);
}

/* Run the next code, or start the idle timer. */
static void run_next(struct context *c)
{
	if (c->removed || c->running || (c->executor && !c->ready))
		return;
	if (c->ready && c->queue)
		begin_first(c);
	else if (!c->queue && c->all->ttl_ms > 0)
		uv_timer_start(&c->timer, on_unused, c->all->ttl_ms, 0);
}

/* All contexts */

int contexts_open(uv_loop_t *loop, struct runs *runs, uint64_t ttl_ms, struct contexts **ret)
{
	struct contexts *all = calloc(1, sizeof *all);
	if (!all)
		return -ENOMEM;
	all->loop = loop;
	all->runs = runs;
	all->ttl_ms = ttl_ms;
	all->idle_budget = CONTEXTS_MAX * RUN_STREAMS * CONTEXT_IDLE_OUTPUT;
	*ret = all;
	return 0;
}

void contexts_close(struct contexts *all)
{
	struct context *c, *next;
	if (!all)
		return;
	DL_FOREACH_SAFE (all->list, c, next) {
		assert(!c->executor);
		c->removed = true;
		maybe_close(c);
	}
	free(all);
}

static char **copy_environment(const struct interpreter_options *o)
{
	char **env = calloc(2 * o->env_count + 1, sizeof *env);
	for (size_t i = 0; env && i < o->env_count; i++) {
		env[i] = strdup(o->env_names[i]);
		env[o->env_count + i] = strdup(o->env_values[i]);
		if (!env[i] || !env[o->env_count + i]) {
			for (size_t k = 0; k < 2 * o->env_count; k++)
				free(env[k]);
			free(env);
			env = NULL;
		}
	}
	return env;
}

/* A random UUID, version 4. */
static int make_id(char id[CONTEXT_ID_SIZE])
{
	char x[33];
	int rc = id_hex(x, sizeof x);
	if (rc < 0)
		return rc;
	x[12] = '4';
	x[16] = "89ab"[x[16] % 4];
	snprintf(id, CONTEXT_ID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", x, x + 8, x + 12, x + 16, x + 20);
	return 0;
}

int context_create(struct contexts *all, const struct interpreter_options *o,
	const struct context_callbacks *callbacks, void *user, struct context **ret)
{
	if (all->count >= CONTEXTS_MAX)
		return -ERR_LIMIT;
	struct context *c = calloc(1, sizeof *c);
	if (!c)
		return -ENOMEM;
	c->callbacks = callbacks;
	c->user = user;
	c->language = o->language;
	c->cwd = strdup(o->cwd);
	c->env = copy_environment(o);
	c->env_count = c->env ? o->env_count : 0;
	int rc = c->cwd && c->env ? make_id(c->id) : -ENOMEM;
	if (rc < 0) {
		context_free(c);
		return rc;
	}
	c->all = all;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		excerpt_init(&c->idle[i], CONTEXT_IDLE_OUTPUT);
	uv_timer_init(all->loop, &c->timer);
	c->timer.data = c;
	rc = start_executor(c, &o->found);
	if (rc < 0) {
		uv_close((uv_handle_t *)&c->timer, on_timer_closed);
		return rc;
	}
	DL_APPEND(all->list, c);
	all->count++;
	*ret = c;
	return 0;
}

struct context *contexts_next(struct contexts *all, struct context *c)
{
	c = c ? c->next : all->list;
	while (c && (c->removed || !c->started))
		c = c->next;
	return c;
}

struct context *contexts_find(struct contexts *all, const char *id)
{
	struct context *c = NULL;
	while ((c = contexts_next(all, c)) && strcmp(c->id, id) != 0)
		;
	return c;
}

const char *context_id(const struct context *c)
{
	return c->id;
}

const char *context_cwd(const struct context *c)
{
	return c->cwd;
}

enum language context_language(const struct context *c)
{
	return c->language;
}

bool context_has_executor(const struct context *c)
{
	return c->executor != NULL;
}

void *context_user(const struct context *c)
{
	return c->user;
}

void context_remove(struct context *c)
{
	const struct code_end end = {.how = CODE_REMOVED, .lost = true};
	c->removed = true;
	end_queue(c, &end);
	if (c->executor)
		interpreter_kill(c->executor);
	maybe_close(c);
}

bool context_interrupt(struct context *c)
{
	if (!running_code(c) || !c->executor)
		return false;
	interpreter_interrupt(c->executor, c->run);
	return true;
}

int code_start(struct context *c, const struct code_options *o,
	const struct code_callbacks *callbacks, void *user, struct code **ret)
{
	if (c->lost) {
		c->lost = false;
		return -EPIPE;
	}
	if (o->length > CONTEXT_CODE_MAX)
		return -E2BIG;
	if (c->queued > CONTEXT_QUEUE_MAX)
		return -ERR_LIMIT;
	struct code *code = calloc(1, sizeof *code);
	char *copy = malloc(o->length + 1);
	int rc = code && copy ? 0 : -ENOMEM;
	if (rc == 0 && !c->executor)
		rc = start_executor(c, &o->found);
	if (rc < 0) {
		free(copy);
		free(code);
		return rc;
	}
	memcpy(copy, o->text, o->length);
	copy[o->length] = '\0';
	*code = (struct code){.context = c,
		.callbacks = callbacks,
		.user = user,
		.text = copy,
		.length = o->length,
		.timeout_ms = o->timeout_ms};
	DL_APPEND(c->queue, code);
	c->queued++;
	*ret = code;
	run_next(c);
	return 0;
}

void code_pause(struct code *code, bool pause)
{
	struct context *c = code->context;
	if (code == running_code(c) && c->executor && !c->stopping)
		interpreter_pause(c->executor, pause);
}

void code_abandon(struct code *code)
{
	struct context *c = code->context;
	code->callbacks = NULL;
	if (code != running_code(c)) {
		DL_DELETE(c->queue, code);
		c->queued--;
		code_free(code);
	} else if (c->executor && !c->stopping) {
		stop(c);
	}
}
