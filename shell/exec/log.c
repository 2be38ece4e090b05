/*
 * Execs on disk. The file "execs" in the session's directory gets a line of JSON for each request,
 * before the client gets an answer, and another when the exec is done. The header of the script, in
 * the holder's memory, names the exec that was typed last and when it began. Execs are typed in the
 * order of their numbers, so one that is not done and has a higher number than that in the header
 * was never typed. The file may be missing; malformed lines are skipped.
 */
#include "ring/utf8.h"
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/json_read.h"
#include "shell/store/lines.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define LOG_MAX ((size_t)64 << 20)
#define LOG_COMPACT ((size_t)1 << 20) /* a smaller file is not compacted */
#define HEADER_MAX ((size_t)64 << 10)
#define START_SIZE 112u

static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return value ? value : json_null();
}

/* The kept beginning of a command, or null if it is not UTF-8. */
static json_t *command_json(const struct exec *e)
{
	size_t length = utf8_cut(e->command, strlen(e->command), EXEC_COMMAND_KEPT);
	json_t *value = json_stringn(e->command, length);
	return value ? value : json_null();
}

static json_t *common_json(const struct exec *e)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:I, s:i, s:I, s:I, s:I, s:I, s:s, s:I}", "id",
		e->id, "key", e->key, "label", e->label, "command", command_json(e), "length",
		(json_int_t)e->length, "streams", (int)e->plan.streams, "submitted",
		(json_int_t)e->submitted_ms, "typedOffset", (json_int_t)e->typed_offset,
		"typedPosition", (json_int_t)e->typed_position, "number", (json_int_t)e->number,
		"author", e->author, "caller", (json_int_t)e->caller);
}

/* The end of the header: the start, in a fixed length, so that it can be overwritten. */
static void format_start(const struct exec *e, char ret_text[START_SIZE])
{
	snprintf(ret_text, START_SIZE,
		",\"began\":%14llu,\"boot\":%14llu,\"from\":%20llu,\"marked\":%d}\n",
		(unsigned long long)e->started_ms, (unsigned long long)e->started_boot_ms,
		(unsigned long long)e->start, e->start_marked);
}

char *exec_log_header(const struct exec *e)
{
	json_t *root = common_json(e);
	if (root)
		json_object_set_new(root, "timeout", json_integer((json_int_t)e->timeout_ms));
	if (root && e->hold_expected)
		json_object_set_new(root, "hold", json_true());
	if (root) {
		char seal[SEAL_TEXT + 1];
		seal_write(&e->seal, seal);
		json_object_set_new(root, "seal", json_string(seal));
	}
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(root);
	char *header = NULL, start[START_SIZE];
	format_start(e, start);
	if (text)
		text[strlen(text) - 1] = '\0'; /* the closing brace */
	if (text && asprintf(&header, "# %s%s", text, start) < 0)
		header = NULL;
	free(text);
	return header;
}

void exec_log_start(struct exec *e)
{
	char text[START_SIZE];
	format_start(e, text);
	size_t length = strlen(text);
	if (e->header_length < length)
		return; /* not a header of ours */
	/* On failure the next server takes the start from the ring. */
	if (pwrite(e->executor->script_fd, text, length, (off_t)(e->header_length - length)) !=
		(ssize_t)length)
		e->executor->all->not_kept++;
}

static json_t *done_json(const struct exec *e)
{
	json_t *root = common_json(e), *statuses = json_array();
	for (size_t i = 0; i < e->statuses_count; i++)
		json_array_append_new(statuses, json_integer(e->statuses[i]));
	json_t *rest = json_pack(
		"{s:i, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I, s:b, s:i}",
		"end", (int)e->end, "status", e->status, "statuses", statuses, "cwd",
		text_or_null(e->cwd), "started", (json_int_t)e->started_ms, "ended",
		(json_int_t)e->ended_ms, "from", (json_int_t)e->start, "to",
		(json_int_t)e->end_offset, "over", (json_int_t)e->over_offset, "startMarked",
		e->start_marked, "endMarked", e->end_marked, "interleaved", e->interleaved,
		"timedOut", e->timed_out, "lost", (json_int_t)e->lost, "suspect", e->suspect,
		"outlet", (int)e->outlet);
	if (root && rest)
		json_object_update(root, rest);
	json_decref(rest);
	return root;
}

static void write_execs(void *user, struct lines_writer *w)
{
	const struct executor *x = user;
	struct exec *e;
	DL_FOREACH (x->finished, e)
		lines_put(w, done_json(e));
	if (x->current)
		lines_put(w, common_json(x->current));
	DL_FOREACH (x->queue, e)
		lines_put(w, common_json(e));
}

static const struct lines_kind kind = {
	.name = "execs", .max = LOG_MAX, .compact = LOG_COMPACT, .doubled = true, .tell = write_execs};

/* Append a line, which this owns from now on. */
static void append_line(struct executor *x, json_t *line)
{
	if (lines_append(&x->log, &kind, x->pane->held.link.dir_fd, line, x) < 0)
		x->all->not_kept++;
}

bool exec_log_catch_up(struct executor *x, int *ret_error)
{
	return x->open && lines_retry(&x->log, &kind, x->pane->held.link.dir_fd, x, ret_error);
}

void exec_log_request(struct exec *e)
{
	append_line(e->executor, common_json(e));
}

void exec_log_end(struct exec *e)
{
	append_line(e->executor, done_json(e));
}

/* Reading */

static struct exec *read_common(const json_t *root)
{
	const char *id, *key, *label;
	json_t *command = NULL; /* may be null */
	json_int_t length, submitted, offset, position;
	int streams;
	if (json_unpack((json_t *)(uintptr_t)root, "{s:s, s:s, s:s, s?:o, s:I, s:i, s:I, s:I, s:I}",
		    "id", &id, "key", &key, "label", &label, "command", &command, "length", &length,
		    "streams", &streams, "submitted", &submitted, "typedOffset", &offset,
		    "typedPosition", &position) < 0 ||
		(command && !json_is_null(command) && !json_is_string(command)))
		return NULL;
	if (strlen(id) > RECORD_ID_MAX || strlen(key) > EXEC_KEY_MAX ||
		strlen(label) > EXEC_AUTHOR_MAX || streams < EXEC_TERMINAL ||
		streams > EXEC_TERMINALS)
		return NULL;
	struct exec *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	snprintf(e->id, sizeof e->id, "%s", id);
	e->command = strdup(json_is_string(command) ? json_string_value(command) : "");
	e->length = (size_t)length;
	e->plan.streams = (enum exec_streams)streams;
	e->submitted_ms = (uint64_t)submitted;
	e->typed_offset = (uint64_t)offset;
	e->typed_position = (uint64_t)position;
	e->number = (uint64_t)json_integer_value(json_object_get(root, "number"));
	e->caller = (uint64_t)json_integer_value(json_object_get(root, "caller"));
	e->status = -1;
	e->output_max = EXEC_OUTPUT_DEFAULT;
	const char *author = json_string_value(json_object_get(root, "author"));
	if (exec_set_names(e, &(struct exec_names){key, author, label, NULL}) && e->command)
		return e;
	free(e->names);
	free(e->command);
	free(e);
	return NULL;
}

static bool read_done(const json_t *root, struct exec *e)
{
	int end, start_marked, end_marked, interleaved, timed_out;
	json_int_t started, ended, from, to, over, lost;
	json_t *statuses, *cwd, *status;
	size_t i;
	if (json_unpack((json_t *)(uintptr_t)root,
		    "{s:i, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I}", "end",
		    &end, "status", &e->status, "statuses", &statuses, "cwd", &cwd, "started",
		    &started, "ended", &ended, "from", &from, "to", &to, "over", &over,
		    "startMarked", &start_marked, "endMarked", &end_marked, "interleaved",
		    &interleaved, "timedOut", &timed_out, "lost", &lost) < 0 ||
		end < 0 || end > EXEC_END_UNKNOWN)
		return false;
	exec_move(e, EXEC_DONE);
	e->end = (enum exec_end)end;
	e->started_ms = (uint64_t)started;
	e->ended_ms = (uint64_t)ended;
	e->start = (uint64_t)from;
	e->end_offset = (uint64_t)to;
	e->over_offset = (uint64_t)over;
	e->start_marked = start_marked;
	e->end_marked = end_marked;
	e->interleaved = interleaved;
	e->timed_out = timed_out;
	e->suspect = json_is_true(json_object_get(root, "suspect"));
	json_int_t outlet = json_integer_value(json_object_get(root, "outlet"));
	if (outlet >= 0 && outlet <= RECORD_OUTLET_PENDING)
		e->outlet = (enum record_outlet)outlet;
	e->lost = (uint64_t)lost;
	e->cwd = json_is_string(cwd) ? strdup(json_string_value(cwd)) : NULL;
	json_array_foreach (statuses, i, status)
		if (i < RECORD_STATUSES_MAX)
			e->statuses[e->statuses_count++] = (uint8_t)json_integer_value(status);
	return true;
}

static struct exec *find(struct exec *list, const char *id)
{
	struct exec *e = list ? list->prev : NULL;
	for (; e; e = e == list ? NULL : e->prev)
		if (strcmp(e->id, id) == 0)
			return e;
	return NULL;
}

static void drop(struct exec **list, struct exec *e)
{
	if (!e)
		return;
	DL_DELETE(*list, e);
	exec_free(e);
}

/* What a log is read into. */
struct loading {
	struct executor *x;
	struct exec *unfinished; /* list: requested and not done so far */
};

/* A line of the log: of a request, or of a done exec. */
static void load_line(void *user, json_t *line)
{
	struct loading *l = user;
	struct executor *x = l->x;
	struct exec *e = read_common(line);
	bool done = e && json_object_get(line, "end");
	if (e)
		e->executor = x;
	if (e && e->number > x->last_number)
		x->last_number = e->number;
	if (e && done && read_done(line, e)) {
		drop(&l->unfinished, find(l->unfinished, e->id));
		DL_APPEND(x->finished, e);
		x->finished_count++;
	} else if (e && !done) {
		DL_APPEND(l->unfinished, e);
	} else if (e) {
		exec_free(e);
	}
}

static void trim(struct executor *x)
{
	while (x->finished_count > EXECS_KEPT) {
		struct exec *oldest = x->finished;
		DL_DELETE(x->finished, oldest);
		x->finished_count--;
		exec_free(oldest);
	}
}

static void parse_start(struct exec *e, const json_t *root)
{
	e->timeout_ms = (uint64_t)json_integer_value(json_object_get(root, "timeout"));
	uint64_t began = (uint64_t)json_integer_value(json_object_get(root, "began"));
	if (began == 0)
		return;
	e->start = (uint64_t)json_integer_value(json_object_get(root, "from"));
	e->start_marked = json_integer_value(json_object_get(root, "marked")) == 1;
	exec_note_start(e, began, (uint64_t)json_integer_value(json_object_get(root, "boot")));
}

/* Load the exec that was typed last. NULL: none. *ret_short: memory is short. */
static struct exec *load_typed(struct executor *x, bool *ret_short)
{
	char *text = calloc(1, HEADER_MAX + 1);
	ssize_t n = text ? pread(x->script_fd, text, HEADER_MAX, 0) : -1;
	char *end = n > 2 ? strchr(text, '\n') : NULL;
	size_t length = end ? strcspn(text, "\n") + 1 : 0;
	if (end)
		*end = '\0';
	json_t *root = end ? json_read(text + 2, strlen(text + 2), 0, ret_short) : NULL;
	struct exec *e = root ? read_common(root) : NULL;
	free(text);
	if (e) {
		e->header_length = json_object_get(root, "began") ? length : 0;
		e->executor = x;
		exec_move(e, EXEC_STARTING);
		e->typed_ms = exec_now(x);
		const char *seal = json_string_value(json_object_get(root, "seal"));
		seal_read(&e->seal, seal ? seal : "");
		parse_start(e, root);
		e->hold_expected = json_is_true(json_object_get(root, "hold"));
	}
	json_decref(root);
	return e;
}

/* It was not over when the earlier server ended: its caller is to be notified of its end. */
static void mark_left(struct exec *e)
{
	e->left = e->caller != 0;
	e->executor->all->unreported += e->left;
}

/* End what earlier servers have not finished, except exec number `typed`. */
static void end_unfinished(struct executor *x, struct exec **list, uint64_t typed)
{
	struct exec *first = *list, *e;
	while ((e = *list)) {
		DL_DELETE(*list, e);
		exec_move(e, EXEC_DONE);
		bool certain = e->number > typed && !x->log.frozen;
		e->end = certain ? EXEC_END_NOT_STARTED : EXEC_END_UNKNOWN;
		e->ended_ms = clock_wall_ms();
		exec_adopt_input(e);
		exec_remove_input(e);
		mark_left(e);
		DL_APPEND(x->finished, e);
		x->finished_count++;
	}
	/* Logging may compact the file, and write_execs() must find all of them. */
	for (e = first; e; e = e->next)
		exec_log_end(e);
}

/* Follow it again from where it was typed, as far as the ring still has that. */
static void resume(struct executor *x, struct exec *e)
{
	const struct link *link = &x->pane->held.link;
	const struct ring *ring = &link->ring;
	uint64_t oldest = stream_oldest(&ring->bytes);
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_init(&e->output[i], e->output_max);
	e->collecting = true;
	x->current = e;
	exec_move_prompt(x, EXEC_PROMPT_LEFT);
	x->outline.offset = e->start_marked && e->start < oldest ? e->start : e->typed_offset;
	e->unsure = e->typed_offset < oldest || e->typed_position < stream_oldest(&ring->events);
	x->outline.position = e->typed_position >= stream_oldest(&ring->events)
		? e->typed_position
		: labels_log_start(&ring->events,
			  control_events_tail(&link->control, stream_head(&ring->events)));
	exec_adopt_input(e);
	mark_left(e);
	exec_hold_begin(e);
	executors_add_busy(x);
}

void exec_log_load(struct executor *x)
{
	const struct link *link = &x->pane->held.link;
	const struct ring *ring = &link->ring;
	struct loading l = {.x = x};
	bool is_short = false;
	struct exec *e = load_typed(x, &is_short);
	uint64_t oldest = stream_oldest(&ring->bytes), head = stream_head(&ring->bytes);
	uint64_t typed = e ? e->number : 0;
	lines_load(&x->log, &kind, link->dir_fd, load_line, &l);
	x->log.frozen = x->log.frozen || is_short;
	x->last_number = x->last_number > typed ? x->last_number : typed;
	if (e) {
		const struct exec *done = find(x->finished, e->id);
		drop(&l.unfinished, find(l.unfinished, e->id));
		if (done) {
			if (done->end == EXEC_END_UNKNOWN)
				x->sign = EXEC_SIGN_DUE; /* its keys may not have been read yet */
			exec_free(e);
			e = NULL;
		}
	}
	end_unfinished(x, &l.unfinished, typed);
	trim(x);
	if (e) {
		resume(x, e);
		return;
	}
	/* No command runs. The last output is enough to find the prompt. */
	x->outline.offset = head > oldest + HEADER_MAX ? head - HEADER_MAX : oldest;
	x->outline.position = control_events_tail(&link->control, stream_head(&ring->events));
}
