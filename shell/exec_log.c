/*
 * What outlives the server: the header of the script, which is in the holder's memory, tells which command may be
 * running; "execs", in the session's directory, has a line of JSON for each that is done. The file is a help,
 * not a promise: it may be missing, and a line that makes no sense is left out.
 */
#include "shell/exec_internal.h"
#include "shell/file.h"
#include "shell/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define LOG_NAME "execs"
#define LOG_MAX ((size_t)4 << 20)
#define HEADER_MAX ((size_t)64 << 10)

static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return value ? value : json_null();
}

/* As much of a command as is kept, or null when it is no UTF-8. */
static json_t *command_json(const struct exec *e)
{
	size_t length = strlen(e->command);
	if (length > EXEC_COMMAND_KEPT) {
		length = EXEC_COMMAND_KEPT;
		while (length > 0 && ((unsigned char)e->command[length] & 0xc0) == 0x80)
			length--;
	}
	json_t *value = json_stringn(e->command, length);
	return value ? value : json_null();
}

static json_t *common_json(const struct exec *e)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:I, s:i, s:I, s:I, s:I}", "id", e->id, "key",
		e->key, "author", e->author, "command", command_json(e), "length",
		(json_int_t)e->length, "streams", (int)e->plan.streams, "submitted",
		(json_int_t)e->submitted_ms, "typedOffset", (json_int_t)e->typed_offset,
		"typedPosition", (json_int_t)e->typed_position);
}

char *exec_log_header(const struct exec *e)
{
	json_t *root = common_json(e);
	if (root)
		json_object_set_new(root, "timeout", json_integer((json_int_t)e->timeout_ms));
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(root);
	char *header = text ? malloc(strlen(text) + 4) : NULL;
	if (header)
		sprintf(header, "# %s\n", text);
	free(text);
	return header;
}

static json_t *done_json(const struct exec *e)
{
	json_t *root = common_json(e), *statuses = json_array();
	for (size_t i = 0; i < e->statuses_count; i++)
		json_array_append_new(statuses, json_integer(e->statuses[i]));
	json_t *rest = json_pack(
		"{s:i, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I}", "end",
		(int)e->end, "status", e->status, "statuses", statuses, "cwd", text_or_null(e->cwd),
		"started", (json_int_t)e->started_ms, "ended", (json_int_t)e->ended_ms, "from",
		(json_int_t)e->start, "to", (json_int_t)e->end_offset, "over",
		(json_int_t)e->over_offset, "startMarked", e->start_marked, "endMarked",
		e->end_marked, "interleaved", e->interleaved, "timedOut", e->timed_out, "lost",
		(json_int_t)e->lost);
	if (root && rest)
		json_object_update(root, rest);
	json_decref(rest);
	return root;
}

/* Write all that are kept anew. */
static int compact(struct executor *x)
{
	char *text = NULL;
	size_t length;
	struct exec *e;
	FILE *f = open_memstream(&text, &length);
	if (!f)
		return -ENOMEM;
	DL_FOREACH (x->finished, e) {
		json_t *root = done_json(e);
		if (root && json_dumpf(root, f, JSON_COMPACT) == 0)
			fputc('\n', f);
		json_decref(root);
	}
	int rc = fclose(f) == 0 ? file_save(x->session->link.dir_fd, LOG_NAME, text, length)
				: -ENOMEM;
	free(text);
	return rc;
}

static int append(const struct exec *e, off_t *ret_size)
{
	json_t *root = done_json(e);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		return -ENOMEM;
	size_t length = strlen(text);
	text[length++] = '\n'; /* in place of the NUL */
	int fd = openat(e->executor->session->link.dir_fd, LOG_NAME,
		O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = fd < 0 ? -errno : 0;
	if (rc == 0 && write(fd, text, length) != (ssize_t)length)
		rc = errno ? -errno : -EIO;
	*ret_size = fd < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

void exec_log_append(struct exec *e)
{
	struct executor *x = e->executor;
	off_t size;
	int rc = append(e, &size);
	if (rc == 0 && size > (off_t)LOG_MAX / 2)
		rc = compact(x);
	if (rc < 0)
		x->session->table->counters.execs_not_kept++;
}

/* Reading */

static struct exec *read_common(const json_t *root)
{
	const char *id, *key, *author, *command = NULL;
	json_int_t length, submitted, offset, position;
	int streams;
	if (json_unpack((json_t *)(uintptr_t)root, "{s:s, s:s, s:s, s?:s, s:I, s:i, s:I, s:I, s:I}",
		    "id", &id, "key", &key, "author", &author, "command", &command, "length",
		    &length, "streams", &streams, "submitted", &submitted, "typedOffset", &offset,
		    "typedPosition", &position) < 0 &&
		json_unpack((json_t *)(uintptr_t)root,
			"{s:s, s:s, s:s, s:n, s:I, s:i, s:I, s:I, s:I}", "id", &id, "key", &key,
			"author", &author, "command", "length", &length, "streams", &streams,
			"submitted", &submitted, "typedOffset", &offset, "typedPosition",
			&position) < 0)
		return NULL;
	if (strlen(id) > RECORD_ID_MAX || strlen(key) > EXEC_KEY_MAX ||
		strlen(author) > EXEC_AUTHOR_MAX || streams < EXEC_TERMINAL ||
		streams > EXEC_TERMINALS)
		return NULL;
	struct exec *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	snprintf(e->id, sizeof e->id, "%s", id);
	snprintf(e->key, sizeof e->key, "%s", key);
	snprintf(e->author, sizeof e->author, "%s", author);
	e->command = strdup(command ? command : "");
	e->length = (size_t)length;
	e->plan.streams = (enum exec_streams)streams;
	e->submitted_ms = (uint64_t)submitted;
	e->typed_offset = (uint64_t)offset;
	e->typed_position = (uint64_t)position;
	e->status = -1;
	e->adopted = true;
	e->output_max = EXEC_OUTPUT_DEFAULT;
	if (e->command)
		return e;
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
		end < 0 || end > EXEC_END_LOST)
		return false;
	e->state = EXEC_DONE;
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
	e->lost = (uint64_t)lost;
	e->cwd = json_is_string(cwd) ? strdup(json_string_value(cwd)) : NULL;
	json_array_foreach (statuses, i, status)
		if (i < RECORD_STATUSES_MAX)
			e->statuses[e->statuses_count++] = (int)json_integer_value(status);
	return true;
}

static void load_done(struct executor *x)
{
	char *text, *rest;
	size_t length;
	if (file_load(x->session->link.dir_fd, LOG_NAME, LOG_MAX, &text, &length) < 0)
		return;
	rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		json_t *root = *line ? json_loads(line, 0, NULL) : NULL;
		struct exec *e = root ? read_common(root) : NULL;
		if (e && read_done(root, e)) {
			e->executor = x;
			DL_APPEND(x->finished, e);
			x->kept++;
		} else if (e) {
			exec_free(e);
		}
		json_decref(root);
	}
	free(text);
	while (x->kept > EXECS_KEPT) {
		struct exec *oldest = x->finished;
		DL_DELETE(x->finished, oldest);
		x->kept--;
		exec_free(oldest);
	}
}

/* The command of the script, unless it is known to be done. */
static struct exec *load_current(struct executor *x)
{
	char *text = calloc(1, HEADER_MAX + 1);
	ssize_t n = text ? pread(x->script_fd, text, HEADER_MAX, 0) : -1;
	char *end = n > 2 ? strchr(text, '\n') : NULL;
	json_t *root = NULL;
	struct exec *e = NULL;
	if (end) {
		*end = '\0';
		root = json_loads(text + 2, 0, NULL);
		e = root ? read_common(root) : NULL;
	}
	free(text);
	if (e) {
		e->executor = x;
		e->timeout_ms = (uint64_t)json_integer_value(json_object_get(root, "timeout"));
	}
	json_decref(root);
	if (e && exec_find(x->session, e->id)) {
		exec_free(e);
		return NULL;
	}
	return e;
}

void exec_log_load(struct executor *x)
{
	const struct session *s = x->session;
	const struct ring *ring = &s->link.ring;
	load_done(x);
	struct exec *e = load_current(x);
	uint64_t oldest = stream_oldest(&ring->bytes), head = stream_head(&ring->bytes);
	uint64_t oldest_event = stream_oldest(&ring->events);
	if (!e) {
		/* Only where the prompt is matters: that is told in what was printed last. */
		x->outline.offset = head > oldest + HEADER_MAX ? head - HEADER_MAX : oldest;
		x->outline.position = atomic_load(&s->link.control->events_tail);
		return;
	}
	e->state = EXEC_STARTING;
	e->typed_ms = exec_now(x);
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_init(&e->output[i], e->output_max);
	e->collecting = true;
	x->current = e;
	x->prompt = EXEC_PROMPT_LEFT;
	x->outline.offset = e->typed_offset;
	uint64_t tail = atomic_load(&s->link.control->events_tail);
	x->outline.position = e->typed_position >= oldest_event
		? e->typed_position
		: labels_log_start(&ring->events, tail);
	exec_attend(x);
}
