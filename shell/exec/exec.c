/* The life of an exec: asked for, queued, over, kept. See type.c for how it begins and follow.c for
 * how it is followed. */
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/id.h"
#include "shell/session/sessions.h"
#include "shell/output/spool.h"
#include "shell/wait/wait.h"

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

uint64_t exec_now(const struct executor *x)
{
	return uv_now(x->session->table->loop);
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
	int rc = id_hex(x->nonce, sizeof x->nonce);
	x->possible = rc == 0;
	return rc;
}

/* Memory */

_Static_assert(sizeof(struct exec) <= 1024, "EXECS_KEPT of them stay with each session");

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

bool exec_set_names(struct exec *e, const char *key, const char *author, const char *peer)
{
	const char *const texts[] = {key ? key : "", author ? author : "", peer ? peer : ""};
	const char **const names[] = {&e->key, &e->author, &e->peer};
	static const size_t max[] = {EXEC_KEY_MAX, EXEC_AUTHOR_MAX, EXEC_PEER_MAX};
	size_t length = 0, lengths[3];
	for (int i = 0; i < 3; i++) {
		lengths[i] = strnlen(texts[i], max[i]);
		length += lengths[i] + 1;
	}
	char *at = e->names = calloc(1, length);
	for (int i = 0; at && i < 3; i++) {
		*names[i] = memcpy(at, texts[i], lengths[i]);
		at += lengths[i] + 1;
	}
	return at != NULL;
}

static void remove_input(struct exec *e)
{
	char name[RECORD_ID_MAX + 16];
	free(e->input);
	e->input = NULL;
	if (!e->has_input)
		return;
	snprintf(name, sizeof name, "input.%s", e->id);
	unlinkat(e->executor->session->pane.held.link.dir_fd, name,
		0); /* the directory may be gone */
	e->has_input = false;
}

void exec_free(struct exec *e)
{
	exec_hold_end(e);
	remove_input(e);
	free_plan(&e->plan);
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_finish(&e->output[i]);
	free(e->command);
	free(e->names);
	free(e->cwd);
	free(e);
}

/* Forget e: its watchers are told. */
static void forget(struct exec *e)
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

static int create(struct executor *x, const struct exec_options *o, struct exec **ret_exec)
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
	e->timeout_ms = o->timeout_ms;
	e->output_max = o->output_max ? o->output_max : EXEC_OUTPUT_DEFAULT;
	e->hold_asked = o->hold;
	e->plan.streams = o->streams;
	e->plan.isolated = o->isolated;
	e->length = o->length;
	e->command = malloc(o->length + 1);
	if (o->cwd)
		e->plan.cwd = strdup(o->cwd);
	if (!exec_set_names(e, o->key, o->author, o->peer) || !e->command ||
		(o->cwd && !e->plan.cwd) || !copy_environment(&e->plan, o)) {
		exec_free(e);
		return -ENOMEM;
	}
	memcpy(e->command, o->command, o->length);
	e->command[o->length] = '\0';
	*ret_exec = e;
	return 0;
}

/* Standard input is a file in the session's directory: whoever still reads it keeps it. */
static int store_input(struct exec *e, const struct exec_options *o)
{
	char name[RECORD_ID_MAX + 16];
	const struct session *s = e->executor->session;
	if (o->no_input && !o->input && !o->spool) {
		e->input = strdup("/dev/null");
		return e->input ? 0 : -ENOMEM;
	}
	if (!o->input && !o->spool)
		return 0;
	snprintf(name, sizeof name, "input.%s", e->id);
	char path[EXEC_PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/sessions/%s/%s", s->table->config.runtime_dir,
		s->pane.held.directory, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	e->input = strdup(path);
	if (!e->input)
		return -ENOMEM;
	if (o->spool) {
		int moved = spool_move(
			s->table->config.runtime_dir, o->spool, s->pane.held.link.dir_fd, name);
		e->has_input = moved == 0;
		return moved;
	}
	int fd = openat(
		s->pane.held.link.dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	e->has_input = true;
	int rc = 0;
	for (size_t at = 0; rc == 0 && at < o->input_length;) {
		ssize_t done = write(fd, (const char *)o->input + at, o->input_length - at);
		if (done > 0)
			at += (size_t)done;
		else if (errno != EINTR)
			rc = -errno;
	}
	close(fd);
	return rc;
}

/* Finding */

struct exec *exec_find(struct session *s, const char *id)
{
	struct executor *x = &s->executor;
	struct exec *e;
	if (x->current && strcmp(x->current->id, id) == 0)
		return x->current;
	DL_FOREACH (x->queue, e)
		if (strcmp(e->id, id) == 0)
			return e;
	DL_FOREACH (x->finished, e)
		if (strcmp(e->id, id) == 0)
			return e;
	return NULL;
}

struct exec *exec_find_key(struct session *s, const char *key)
{
	struct executor *x = &s->executor;
	struct exec *e, *found = NULL;
	if (x->current && strcmp(x->current->key, key) == 0)
		return x->current;
	DL_FOREACH (x->queue, e)
		if (strcmp(e->key, key) == 0)
			return e;
	DL_FOREACH (x->finished, e)
		if (strcmp(e->key, key) == 0)
			found = e; /* the last try */
	return found;
}

/* Following */

void exec_watch(struct exec *e, struct exec_watcher *w)
{
	DL_APPEND(e->watchers, w);
}

void exec_unwatch(struct exec *e, struct exec_watcher *w)
{
	DL_DELETE(e->watchers, w);
}

static struct block_exec facts_of(const struct exec *e)
{
	return (struct block_exec){.id = e->id,
		.command = e->command,
		.author = e->author,
		.over = e->state == EXEC_DONE,
		.end_marked = e->end_marked,
		.interleaved = e->interleaved,
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

bool exec_find_facts(void *user, const char *id, struct block_exec *ret_exec)
{
	const struct executor *x = user;
	const struct exec *e = exec_find(x->session, id);
	if (e)
		*ret_exec = facts_of(e);
	return e != NULL;
}

static void tell_block(const struct exec *e)
{
	const struct block_exec facts = facts_of(e);
	if (e->state == EXEC_RUNNING || e->state == EXEC_DONE)
		blocks_exec(&e->executor->session->blocks, &facts);
}

void exec_changed(struct exec *e)
{
	struct exec_watcher *w, *next;
	tell_block(e);
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

/* Asking */

const char *exec_busy(struct executor *x)
{
	if (x->current)
		return "Another command runs";
	if (x->queue)
		return "Other commands wait";
	if (x->unanswered)
		return "The shell has not answered since a command was typed";
	if (x->prompt == EXEC_PROMPT_LEFT)
		return "A program that somebody has started runs in the foreground";
	if (x->prompt == EXEC_PROMPT_CONTINUATION)
		return "Somebody has entered a line that is not complete";
	return NULL;
}

static int check(struct session *s, const struct exec_options *o)
{
	struct executor *x = &s->executor;
	if (s->state != SESSION_RUNNING)
		return -ENOTCONN;
	if (!typing_admits(&s->typing, o->lease))
		return -EACCES;
	if (!x->open || exec_unable(x))
		return -ENOTSUP;
	if (memchr(o->command, '\0', o->length) || o->length > EXEC_COMMAND_MAX)
		return -EINVAL;
	if (x->queued >= EXECS_QUEUED_MAX)
		return -EUSERS;
	return !o->queue && exec_busy(x) && !exec_is_ready(x) ? -EBUSY : 0;
}

static bool is_same(const struct exec *e, const struct exec_options *o)
{
	size_t kept = strlen(e->command);
	return e->length == o->length && memcmp(e->command, o->command, kept) == 0;
}

int exec_start(struct session *s, const struct exec_options *o, struct exec_watcher *w,
	struct exec **ret_exec)
{
	struct executor *x = &s->executor;
	struct exec *e = o->key ? exec_find_key(s, o->key) : NULL;
	if (e && !is_same(e, o))
		return -EALREADY;
	/* Where nothing was run another try runs it once. */
	if (e && !(e->state == EXEC_DONE && e->end == EXEC_END_NOT_STARTED)) {
		*ret_exec = e;
		if (w)
			exec_watch(e, w);
		return 0;
	}
	int rc = check(s, o);
	if (rc == 0)
		rc = session_heeds(s);
	if (rc == 0)
		rc = create(x, o, &e);
	if (rc < 0)
		return rc;
	rc = store_input(e, o);
	if (rc < 0) {
		exec_free(e);
		return rc;
	}
	/* One that does not want to wait still waits for a prompt that is on its way. */
	uint64_t wait = o->queue                ? o->queue_ms
		: x->prompt == EXEC_PROMPT_NONE ? EXEC_PROMPT_MS
						: EXEC_UNMARKED_MS + 2 * EXEC_SETTLE_MS;
	e->queue_until_ms = wait ? exec_now(x) + wait : 0;
	e->number = ++x->numbers;
	DL_APPEND(x->queue, e);
	x->queued++;
	exec_log_asked(e);
	*ret_exec = e;
	if (w)
		exec_watch(e, w);
	exec_attend(x);
	exec_next(x);
	return 0;
}

bool exec_outlived(const struct exec *e)
{
	return e->state == EXEC_DONE && e->end == EXEC_END_SHELL && e->started_ms > 0 &&
		e->executor->session->state == SESSION_RUNNING;
}

/* The end of one */

static void keep(struct exec *e)
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
	x->kept++;
	for (; x->kept > EXECS_KEPT && old; old = next) {
		next = old->next;
		if (old->watchers)
			continue;
		DL_DELETE(x->finished, old);
		x->kept--;
		forget(old);
	}
}

void exec_finish(struct exec *e, enum exec_end end)
{
	struct executor *x = e->executor;
	struct sessions *s = x->session->table;
	if (e == x->current) {
		x->current = NULL;
		x->hold_until_ms = exec_now(x) +
			EXEC_HOLD_MS; /* for the prompt, if a line is to come back */
	} else {
		DL_DELETE(x->queue, e);
		x->queued--;
	}
	e->state = EXEC_DONE;
	e->end = end;
	if (e->ended_ms == 0)
		e->ended_ms = clock_wall_ms();
	remove_input(e);
	free_plan(&e->plan);
	keep(e);
	if (end != EXEC_END_LOST)
		exec_log_done(e);
	s->counters.execs_ended++;
	if (s->callbacks->executed)
		s->callbacks->executed(s->user, x->session, e);
	exec_changed(e);
	waits_nudge(x->session);
	/* What was kept for whoever waited is in the ring as well, mostly. */
	for (int i = 0; i < EXEC_STREAMS; i++) {
		s->exec_budget += e->output[i].capacity;
		excerpt_finish(&e->output[i]);
		excerpt_init(&e->output[i], 0);
	}
	e->collecting = false;
}

/* The life of an executor */

/* The blocks of what earlier servers have followed. */
static void tell_past(struct executor *x)
{
	struct blocks *b = &x->session->blocks;
	const struct exec *e;
	blocks_read_past(b, x->outline.offset);
	DL_FOREACH (x->finished, e)
		tell_block(e);
	if (x->current)
		tell_block(x->current);
	blocks_retell(b);
}

void exec_open(struct executor *x, struct session *s, bool adopted)
{
	char path[64];
	const struct ring *ring = &s->pane.held.link.ring;
	x->session = s;
	x->script_fd = -1;
	if (!x->possible)
		return;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", s->pane.held.link.info.holder_pid,
		WIRE_PLACE_SCRIPT);
	x->script_fd = open(path, O_RDWR | O_CLOEXEC);
	if (x->script_fd < 0) {
		s->table->callbacks->failed(s->table->user, s->pane.held.id,
			"cannot open its script: it can run nothing", -errno);
		return;
	}
	x->open = true;
	x->newborn = !adopted;
	x->born_ms = exec_now(x);
	x->prompt_ms = exec_now(x);
	outline_init(&x->outline, x->nonce, stream_oldest(&ring->bytes), 0, EVENT_SOURCE_TERMINAL);
	x->past_offset = adopted ? stream_head(&ring->bytes) : 0;
	if (!adopted)
		return;
	exec_log_load(x);
	tell_past(x);
}

static void forget_list(struct exec **list)
{
	struct exec *e, *next;
	DL_FOREACH_SAFE (*list, e, next) {
		DL_DELETE(*list, e);
		forget(e);
	}
}

void exec_close(struct executor *x)
{
	struct sessions *table = x->session ? x->session->table : NULL;
	int rc;
	if (!x->open)
		return;
	(void)exec_log_catch_up(x, &rc); /* the last chance */
	x->open = false;
	if (x->current)
		exec_finish(x->current, EXEC_END_LOST);
	while (x->queue)
		exec_finish(x->queue, EXEC_END_LOST);
	forget_list(&x->finished);
	exec_state_told(x);
	if (table && x->listed)
		DL_DELETE(table->executing, x);
	x->listed = false;
	free(x->held);
	x->held = NULL;
	x->held_length = 0;
	if (x->script_fd >= 0)
		close(x->script_fd);
	x->script_fd = -1;
}

void exec_shell_ended(struct executor *x)
{
	const struct session *s = x->session;
	if (!x->open)
		return;
	if (x->current) {
		struct exec *e = x->current;
		/* What a holder has not read when it dies nobody has read. */
		bool known = s->end != SESSION_END_HOLDER_DIED;
		if (known)
			e->status = exec_status_of(s->exit_status);
		e->over_offset = s->pane.history.end_offset;
		if (!e->end_marked)
			e->end_offset = s->pane.history.end_offset;
		e->ended_ms = s->exited_ms;
		exec_finish(e,
			known && e->state == EXEC_RUNNING          ? EXEC_END_SHELL
				: known && exec_was_not_started(e) ? EXEC_END_NOT_STARTED
								   : EXEC_END_UNKNOWN);
	}
	while (x->queue)
		exec_finish(x->queue, EXEC_END_NOT_STARTED);
}

void exec_attend(struct executor *x)
{
	struct sessions *table = x->session->table;
	if (x->listed)
		return;
	x->listed = true;
	DL_APPEND(table->executing, x);
	sessions_attend(table);
}

/* By time */

static void tick_queue(struct executor *x)
{
	struct exec *e, *next;
	uint64_t now = exec_now(x);
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (e->queue_until_ms > 0 && now >= e->queue_until_ms)
			exec_finish(e, EXEC_END_BUSY);
	}
}

static void tick_current(struct exec *e)
{
	uint64_t now = exec_now(e->executor);
	if (e->record_due_ms > 0 && now >= e->record_due_ms) {
		e->state = EXEC_RUNNING; /* it was, whether there was a record of that or not */
		exec_finish(e, EXEC_END_PROMPT);
		return;
	}
	if (e->state == EXEC_STARTING) {
		exec_doubt_tick(e);
		if (e->state == EXEC_DONE)
			return;
	}
	if (e->deadline_ms > 0 && now >= e->deadline_ms) {
		e->deadline_ms = 0;
		e->timed_out = true;
		exec_cancel(e, 0, EXEC_GRACE_MS);
	} else if (e->ladder_ms > 0) {
		exec_ladder_tick(e);
	} else if (e->typed_until_ms > 0) {
		exec_interrupt_tick(e);
	}
}

void exec_tick(struct executor *x)
{
	if (x->current)
		tick_current(x->current);
	bool newborn = exec_is_newborn(x) && exec_now(x) < x->born_ms + EXEC_STARTUP_MS;
	if (x->held_length > 0 && exec_now(x) >= x->hold_until_ms && !newborn &&
		!(x->current && x->current->state == EXEC_STARTING))
		exec_release_input(x);
	tick_queue(x);
	exec_shell_tick(x);
	exec_ask_sign(x);
	exec_state_tick(x);
	exec_next(x);
	if (!blocks_tick(&x->session->blocks, exec_now(x)) && !x->current && !x->queue &&
		x->state_due_ms == 0 && x->held_length == 0 && x->listed) {
		x->listed = false;
		DL_DELETE(x->session->table->executing, x);
	}
}

/* Whether the terminal for its standard error is there; otherwise it is asked for. */
static bool has_terminals(struct executor *x, const struct exec *e)
{
	if (e->plan.streams != EXEC_TERMINALS || x->error_terminal[0])
		return true;
	if (!x->error_asked)
		x->error_asked = link_open_terminal(&x->session->pane.held.link) == 0;
	return false;
}

void exec_error_terminal(struct executor *x, const char *path)
{
	struct exec *e, *next;
	x->error_asked = false;
	if (path)
		snprintf(x->error_terminal, sizeof x->error_terminal, "%s", path);
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (!path && e->plan.streams == EXEC_TERMINALS)
			exec_finish(e, EXEC_END_NOT_STARTED);
	}
	exec_next(x);
}

void exec_next(struct executor *x)
{
	while (x->open && !x->current && x->queue && exec_is_ready(x)) {
		struct exec *e = x->queue;
		if (!has_terminals(x, e))
			return;
		DL_DELETE(x->queue, e);
		x->queued--;
		x->current = e;
		if (exec_type(e) < 0)
			exec_finish(e, EXEC_END_NOT_STARTED);
		else
			exec_hold_begin(e);
	}
}
