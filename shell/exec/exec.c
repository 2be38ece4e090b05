/*
 * One exec: requested, queued, watched, done, kept. A request that cannot be run is refused before
 * anything is stored. Any other exec gets to an end, which says what is not known.
 */
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/id.h"
#include "shell/own_error.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

const char *exec_state_name(enum exec_state state)
{
	static const char *const names[] = {[EXEC_QUEUED] = "queued",
		[EXEC_STARTING] = "starting",
		[EXEC_RUNNING] = "running",
		[EXEC_DONE] = "done"};
	return names[state];
}

const char *exec_end_name(enum exec_end end)
{
	static const char *const names[] = {[EXEC_END_COMMAND] = "command",
		[EXEC_END_PROMPT] = "prompt",
		[EXEC_END_SHELL] = "shell",
		[EXEC_END_NOT_STARTED] = "not_started",
		[EXEC_END_BUSY] = "busy",
		[EXEC_END_CANCELLED] = "cancelled",
		[EXEC_END_LOST] = "lost",
		[EXEC_END_UNKNOWN] = "unknown"};
	return names[end];
}

void exec_move(struct exec *e, enum exec_state state)
{
	/* An adopting server reads the report of a start again. */
	static const unsigned moves[] = {[EXEC_QUEUED] = 1u << EXEC_STARTING | 1u << EXEC_DONE,
		[EXEC_STARTING] = 1u << EXEC_RUNNING | 1u << EXEC_DONE,
		[EXEC_RUNNING] = 1u << EXEC_RUNNING | 1u << EXEC_DONE,
		[EXEC_DONE] = 0};
	assert(moves[e->state] & 1u << state);
	e->state = state;
}

int exec_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

enum exec_stream exec_stream_of(enum exec_streams streams, enum event_source source)
{
	if (streams != EXEC_PIPES && source == EVENT_SOURCE_TERMINAL)
		return EXEC_OUTPUT;
	if (streams == EXEC_PIPES && source == EVENT_SOURCE_STDOUT)
		return EXEC_OUTPUT;
	if ((streams == EXEC_PIPES && source == EVENT_SOURCE_STDERR) ||
		(streams == EXEC_TERMINALS && source == EVENT_SOURCE_STDERR_PTY))
		return EXEC_ERROR;
	return EXEC_STREAMS;
}

int exec_make_nonce(struct executor *x)
{
	return id_hex(x->nonce, sizeof x->nonce);
}

bool exec_is_possible(const struct executor *x)
{
	return x->nonce[0] != '\0';
}

/* Memory */

_Static_assert(sizeof(struct exec) <= 1024, "a session keeps EXECS_KEPT of them");

static void free_plan(struct integration_command *plan)
{
	for (size_t i = 0; i < plan->env_count; i++) {
		free((char *)(uintptr_t)plan->env_names[i]);
		free((char *)(uintptr_t)plan->env_values[i]);
	}
	free((void *)(uintptr_t)plan->env_names);
	free((void *)(uintptr_t)plan->env_values);
	free((char *)(uintptr_t)plan->cwd);
	*plan = (struct integration_command){.streams = plan->streams};
}

bool exec_set_names(struct exec *e, const struct exec_names *given)
{
	enum { COUNT = 4 };
	const char *const texts[COUNT] = {given->key, given->author, given->label, given->peer};
	const char **const names[COUNT] = {&e->key, &e->author, &e->label, &e->peer};
	static const size_t max[COUNT] = {
		EXEC_KEY_MAX, EXEC_AUTHOR_MAX, EXEC_AUTHOR_MAX, EXEC_PEER_MAX};
	size_t length = 0, lengths[COUNT];
	for (int i = 0; i < COUNT; i++) {
		lengths[i] = texts[i] ? strnlen(texts[i], max[i]) : 0;
		length += lengths[i] + 1;
	}
	char *at = e->names = calloc(1, length);
	for (int i = 0; at && i < COUNT; i++) {
		*names[i] = lengths[i] > 0 ? memcpy(at, texts[i], lengths[i]) : at;
		at += lengths[i] + 1;
	}
	return at != NULL;
}

void exec_release_claims(struct exec *e)
{
	struct claim *claim;
	while ((claim = e->claims)) {
		LL_DELETE(e->claims, claim);
		claim_release(&claim);
	}
}

void exec_free(struct exec *e)
{
	exec_release_claims(e);
	if (e->left)
		e->executor->all->unreported--;
	exec_hold_end(e);
	exec_remove_input(e);
	free_plan(&e->plan);
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_finish(&e->output[i]);
	free(e->command);
	free(e->names);
	free(e->cwd);
	free(e);
}

void exec_forget(struct exec *e)
{
	struct exec_watcher *w, *next;
	DL_FOREACH_SAFE (e->watchers, w, next) {
		DL_DELETE(e->watchers, w);
		w->gone(w->user);
	}
	exec_free(e);
}

static bool copy_environment(struct integration_command *plan, const struct exec_options *o)
{
	char **names = calloc(o->env_count + 1, sizeof *names);
	char **values = calloc(o->env_count + 1, sizeof *values);
	plan->env_names = (const char *const *)names;
	plan->env_values = (const char *const *)values;
	if (!names || !values)
		return false;
	for (size_t i = 0; i < o->env_count; i++) {
		names[i] = strdup(o->env_names[i]);
		values[i] = strdup(o->env_values[i]);
		plan->env_count++;
		if (!names[i] || !values[i])
			return false;
	}
	return true;
}

_Static_assert(RECORD_ID_MAX + 1 >= ID_STAMPED_SIZE, "an id of ours fits");

static int create_exec(struct executor *x, const struct exec_options *o, struct exec **ret_exec)
{
	struct exec *e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	e->executor = x;
	e->submitted_ms = clock_wall_ms();
	int rc = id_stamped(e->id, "exec", e->submitted_ms, 12, 16);
	if (rc < 0) {
		free(e);
		return rc;
	}
	e->status = -1;
	e->caller = o->caller;
	e->timeout_ms = o->timeout_ms;
	e->output_max = o->output_max ? o->output_max : EXEC_OUTPUT_DEFAULT;
	e->hold_expected = o->hold;
	e->plan.streams = o->streams;
	e->plan.isolated = o->isolated;
	e->plan.history = o->history == EXEC_HISTORY_DEFAULT ? x->history
							     : o->history == EXEC_HISTORY_YES;
	e->length = o->length;
	e->command = malloc(o->length + 1);
	if (o->cwd)
		e->plan.cwd = strdup(o->cwd);
	const struct exec_names names = {o->key, o->author, o->label, o->peer};
	if (!exec_set_names(e, &names) || !e->command || (o->cwd && !e->plan.cwd) ||
		!copy_environment(&e->plan, o)) {
		exec_free(e);
		return -ENOMEM;
	}
	memcpy(e->command, o->command, o->length);
	e->command[o->length] = '\0';
	*ret_exec = e;
	return 0;
}

/* Watchers */

void exec_watch(struct exec *e, struct exec_watcher *w)
{
	DL_APPEND(e->watchers, w);
}

void exec_unwatch(struct exec *e, struct exec_watcher *w)
{
	DL_DELETE(e->watchers, w);
}

struct block_exec exec_facts(const struct exec *e)
{
	return (struct block_exec){.id = e->id,
		.command = e->command,
		.author = e->author,
		.label = e->label,
		.over = e->state == EXEC_DONE,
		.end_marked = e->end_marked,
		.interleaved = e->interleaved,
		.suspect = e->suspect,
		.escaped = e->outlet != RECORD_OUTLET_TERMINAL,
		.start = e->start,
		.end_offset = e->end_offset,
		.over_offset = e->over_offset,
		.started_ms = e->started_ms,
		.ended_ms = e->ended_ms,
		.status = e->status,
		.statuses = e->statuses,
		.statuses_count = e->statuses_count,
		.cwd = e->cwd};
}

void exec_update_block(const struct exec *e)
{
	const struct block_exec facts = exec_facts(e);
	if (e->state == EXEC_RUNNING || e->state == EXEC_DONE)
		blocks_update_exec(e->executor->blocks, &facts);
}

void exec_changed(struct exec *e)
{
	struct exec_watcher *w, *next;
	exec_update_block(e);
	DL_FOREACH_SAFE (e->watchers, w, next)
		w->changed(w->user, e);
}

const struct excerpt_parts *exec_output(
	struct exec *e, enum exec_stream stream, struct excerpt_parts *ret_parts)
{
	if (e->state != EXEC_DONE || !e->collecting)
		return NULL;
	*ret_parts = excerpt_parts(&e->output[stream]);
	return ret_parts;
}

/* Requests */

/* Returns 0 or an error of exec_start(). */
static int check_options(struct executor *x, const struct exec_options *o)
{
	if (!x->pane->life.runs)
		return -ERR_NOT_RUNNING;
	if (!typing_is_allowed(x->typing, o->lease))
		return -EACCES;
	if (!x->open || exec_unable_reason(x) || (o->isolated && x->shell == INTEGRATION_FISH))
		return -ENOTSUP;
	if (memchr(o->command, '\0', o->length) || o->length > EXEC_COMMAND_MAX)
		return -EINVAL;
	if (x->queue_count >= EXECS_QUEUED_MAX)
		return -ERR_LIMIT;
	bool waits = x->queue || (exec_is_busy(x) && !exec_is_ready(x));
	return !o->queue && waits ? -EBUSY : 0;
}

static bool is_same(const struct exec *e, const struct exec_options *o)
{
	size_t kept = strlen(e->command);
	return e->length == o->length && memcmp(e->command, o->command, kept) == 0;
}

/* How long it may be queued. Without o->queue it still waits for a prompt that is being drawn. */
static uint64_t queue_limit(const struct executor *x, const struct exec_options *o)
{
	if (o->queue)
		return o->queue_ms;
	return exec_shell_has_marks(x) ? EXEC_UNSEEN_MS + 2 * EXEC_SETTLE_MS : EXEC_PROMPT_MS;
}

/* Check a request and create an exec with its input, in no list. Returns 0 or a negative errno. */
static int prepare_exec(struct executor *x, const struct exec_options *o, struct exec **ret_exec)
{
	int rc = check_options(x, o);
	if (rc == 0)
		rc = pane_check_responsive(x->pane);
	if (rc < 0)
		return rc;
	struct exec *e;
	rc = create_exec(x, o, &e);
	if (rc < 0)
		return rc;
	rc = exec_store_input(e, o);
	if (rc < 0) {
		exec_free(e);
		return rc;
	}
	*ret_exec = e;
	return 0;
}

/* A link has lost its access. End the queued exec unless another request wants it. */
static void on_withdrawn(struct claim *claim)
{
	struct exec *e = claim->of;
	LL_DELETE(e->claims, claim);
	claim_release(&claim);
	if (!e->claims)
		exec_finish(e, EXEC_END_NOT_STARTED);
}

static bool has_claim_by(const struct exec *e, const char *by)
{
	const struct claim *claim;
	LL_FOREACH (e->claims, claim)
		if (strcmp(claim->by, by) == 0)
			return true;
	return false;
}

static void add_claim(struct exec *e, struct claim *claim)
{
	if (!claim)
		return;
	if (e->state != EXEC_QUEUED || has_claim_by(e, claim->by)) {
		claim_release(&claim);
		return;
	}
	claim->of = e;
	claim->withdraw = on_withdrawn;
	LL_PREPEND(e->claims, claim);
}

int exec_start(struct executor *x, const struct exec_options *o, struct exec_watcher *w,
	struct exec **ret_exec)
{
	struct exec *e = o->key ? exec_find_key(x, o->key) : NULL;
	if (e && !is_same(e, o))
		return -ERR_KEY_IN_USE;
	/* If nothing was run, run it now. */
	if (e && !(e->state == EXEC_DONE && e->end == EXEC_END_NOT_STARTED)) {
		add_claim(e, o->claim);
		*ret_exec = e;
		if (w)
			exec_watch(e, w);
		return 0;
	}
	int rc = prepare_exec(x, o, &e);
	if (rc < 0)
		return rc;
	e->patient = o->queue;
	uint64_t wait = queue_limit(x, o);
	e->queue_until_ms = wait ? exec_now(x) + wait : 0;
	e->number = ++x->last_number;
	DL_APPEND(x->queue, e);
	x->queue_count++;
	add_claim(e, o->claim);
	exec_log_request(e);
	*ret_exec = e;
	if (w)
		exec_watch(e, w);
	executors_add_busy(x);
	exec_type_next(x);
	return 0;
}

const char *exec_inexact_reason(const struct exec *e)
{
	if (e->lost > 0)
		return "lost";
	if (!e->start_marked || !e->end_marked)
		return "unmarked";
	if (e->suspect)
		return "suspect";
	if (e->outlet == RECORD_OUTLET_REDIRECTED)
		return "redirected";
	return e->outlet == RECORD_OUTLET_PENDING ? "late_writers" : NULL;
}

bool exec_has_replaced_shell(const struct exec *e)
{
	return e->state == EXEC_DONE && e->end == EXEC_END_SHELL && e->started_ms > 0 &&
		e->executor->pane->life.runs;
}

/* The end */

static void keep_finished(struct exec *e)
{
	struct executor *x = e->executor;
	struct exec *old = x->finished, *next;
	if (e->length > EXEC_COMMAND_KEPT) {
		char *beginning = strndup(e->command, EXEC_COMMAND_KEPT);
		if (beginning) {
			free(e->command);
			e->command = beginning;
		}
	}
	DL_APPEND(x->finished, e);
	x->finished_count++;
	for (; x->finished_count > EXECS_KEPT && old; old = next) {
		next = old->next;
		if (old->watchers)
			continue;
		DL_DELETE(x->finished, old);
		x->finished_count--;
		exec_forget(old);
	}
}

void exec_finish(struct exec *e, enum exec_end end)
{
	struct executor *x = e->executor;
	if (e == x->current) {
		x->current = NULL;
		/* Until the prompt, if a half-typed line is to be put back. */
		x->hold_until_ms = exec_now(x) + EXEC_HOLD_MS;
	} else {
		DL_DELETE(x->queue, e);
		x->queue_count--;
		exec_release_claims(e);
	}
	exec_move(e, EXEC_DONE);
	e->end = end;
	if (e->ended_ms == 0)
		e->ended_ms = clock_wall_ms();
	exec_remove_input(e);
	free_plan(&e->plan);
	keep_finished(e);
	if (end != EXEC_END_LOST)
		exec_log_end(e);
	x->all->ended++;
	x->all->callbacks->executed(x->user, e);
	exec_changed(e);
	/* Later readers get the output from the ring. */
	for (int i = 0; i < EXEC_STREAMS; i++) {
		x->all->budget += e->output[i].capacity;
		excerpt_finish(&e->output[i]);
		excerpt_init(&e->output[i], 0);
	}
	e->collecting = false;
}
