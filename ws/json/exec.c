/* Execs as JSON, and their output, from the kept excerpts or from the ring. */
#include "ws/json/exec.h"

#include "ring/utf8.h"
#include "shell/session/session.h"
#include "ws/json/session.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const streams_names[] = {
	[EXEC_TERMINAL] = "terminal", [EXEC_PIPES] = "pipes", [EXEC_TERMINALS] = "terminals"};
static const char *const format_names[] = {
	[EXEC_FORMAT_TEXT] = "text", [EXEC_FORMAT_RAW] = "raw", [EXEC_FORMAT_BASE64] = "base64"};

bool exec_format_parse(const char *name, enum exec_format *ret_format)
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(name, format_names[i]) != 0)
			continue;
		*ret_format = (enum exec_format)i;
		return true;
	}
	return false;
}

bool exec_streams_parse(const char *name, enum exec_streams *ret_streams)
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(name, streams_names[i]) != 0)
			continue;
		*ret_streams = (enum exec_streams)i;
		return true;
	}
	return false;
}

static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return value ? value : json_null();
}

static json_t *name_or_null(const char *name)
{
	return text_or_null(*name ? name : NULL);
}

static json_t *status_json(int status)
{
	return status < 0 ? json_null() : json_integer(status);
}

/* A command that was not started has no status. */
static bool has_status(const struct exec *e)
{
	return e->state == EXEC_DONE && e->end <= EXEC_END_SHELL;
}

const char *exec_end_reason(const struct exec *e)
{
	bool over = session_of_exec(e)->state != SESSION_RUNNING;
	switch (e->end) {
	case EXEC_END_NOT_STARTED:
		return over ? "The session's shell has ended: nothing was run"
			    : "The session's shell has not started the command: nothing was run";
	case EXEC_END_SHELL:
		return "The session's shell has ended";
	case EXEC_END_BUSY:
		return exec_wait_reason(e);
	case EXEC_END_CANCELLED:
		return "The command was cancelled";
	case EXEC_END_LOST:
		return "The session has been deleted";
	case EXEC_END_UNKNOWN:
		return "The outcome of the command is unknown: it may have run or not";
	case EXEC_END_COMMAND:
	case EXEC_END_PROMPT:
		break;
	}
	return "The command was run to its end";
}

static void add_end(json_t *root, const struct exec *e)
{
	json_t *statuses = json_array(), *signals = json_array();
	for (size_t i = 0; i < e->statuses_count; i++)
		json_array_append_new(statuses, json_integer(e->statuses[i]));
	for (size_t i = 0; i < e->signals_count; i++)
		json_array_append_new(signals, json_string(sigabbrev_np(e->signals[i])));
	int status = has_status(e) ? e->status : -1;
	json_object_set_new(root, "exitCode", status_json(status));
	json_object_set_new(root, "signal",
		status > 128 && status < 160 ? text_or_null(sigabbrev_np(status - 128))
					     : json_null());
	json_object_set_new(root, "pipeStatus", statuses);
	json_object_set_new(root, "cwd", text_or_null(e->cwd));
	json_object_set_new(root, "endedBy",
		e->state == EXEC_DONE ? json_string(exec_end_name(e->end)) : json_null());
	json_object_set_new(root, "signalsSent", signals);
}

/* Whether the output is exactly what the command printed, and for an exec that is over, why not. */
static void set_exact(json_t *object, bool over, const char *inexact)
{
	json_object_set_new(object, "outputExact", json_boolean(over && !inexact));
	if (over && inexact)
		json_object_set_new(object, "inexact", json_string(inexact));
}

json_t *exec_json(const struct exec *e)
{
	bool began = e->start > 0 || e->state == EXEC_RUNNING;
	json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:s, s:s}", "id", e->id,
		"sessionId", session_id(session_of_exec(e)), "author", name_or_null(e->author),
		"label", name_or_null(e->label), "command", text_or_null(e->command),
		"commandLength", (json_int_t)e->length, "state", exec_state_name(e->state),
		"streams", streams_names[e->plan.streams]);
	if (!root)
		return NULL;
	if (e->key[0])
		json_object_set_new(root, "key", json_string(e->key));
	if (e->state == EXEC_QUEUED)
		json_object_set_new(root, "waitsFor", json_string(exec_wait_reason(e)));
	add_end(root, e);
	json_object_set_new(root, "submittedAt", time_json(e->submitted_ms));
	json_object_set_new(root, "startedAt", time_json(e->started_ms));
	json_object_set_new(root, "endedAt", time_json(e->ended_ms));
	json_object_set_new(root, "durationMs",
		e->started_ms && e->ended_ms >= e->started_ms
			? json_integer((json_int_t)(e->ended_ms - e->started_ms))
			: json_null());
	json_object_set_new(root, "range",
		began ? json_pack("{s:I, s:o}", "start", (json_int_t)e->start, "end",
				e->state == EXEC_DONE ? json_integer((json_int_t)e->end_offset)
						      : json_null())
		      : json_null());
	set_exact(root, e->state == EXEC_DONE, exec_inexact_reason(e));
	json_object_set_new(root, "interleavedInput", json_boolean(e->interleaved));
	json_object_set_new(root, "suspect", json_boolean(e->suspect));
	json_object_set_new(root, "timedOut", json_boolean(e->timed_out));
	json_object_set_new(root, "unkillable", json_boolean(e->cancelling == EXEC_CANCEL_FAILED));
	return root;
}

/* Output */

/* CR LF as LF, in place. Returns the new length. */
static size_t strip_cr(char *text, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++)
		if (text[i] != '\r' || i + 1 == length || text[i + 1] != '\n')
			text[n++] = text[i];
	return n;
}

static json_t *decode(char *bytes, size_t length, enum exec_format format, bool *lossy)
{
	struct text_decoder decoder = {0};
	if (format == EXEC_FORMAT_BASE64)
		return base64_json(bytes, length);
	if (format == EXEC_FORMAT_TEXT)
		length = strip_cr(bytes, length);
	json_t *text = text_json(&decoder, bytes, length, true);
	*lossy |= decoder.lossy;
	return text;
}

/* The secret of the shell's marks must not appear in output: see history_set_secret(). */
static void hide_secret(char *text, size_t length, const char *secret)
{
	const size_t size = strlen(secret);
	char *at = size > 0 ? text : NULL;
	while (at && (at = memmem(at, length - (size_t)(at - text), secret, size)))
		at = (char *)memset(at, SECRET_REDACTED, size) + size;
}

static void add_parts(json_t *object, const char *name, const struct excerpt_parts *p,
	enum exec_format format, const char *secret)
{
	bool lossy = false;
	size_t skip = p->omitted > 0 ? utf8_leading_continuations(p->tail, p->tail_length, 3) : 0;
	size_t keep = p->omitted > 0 ? p->head_length - utf8_incomplete(p->head, p->head_length)
				     : p->head_length;
	char *all = malloc(keep + p->tail_length - skip + 1);
	if (!all)
		return;
	if (keep > 0)
		memcpy(all, p->head, keep);
	if (p->tail_length > skip)
		memcpy(all + keep, p->tail + skip, p->tail_length - skip);
	hide_secret(all, keep + p->tail_length - skip, secret);
	json_t *text = decode(all, keep + p->tail_length - skip, format, &lossy);
	free(all);
	json_object_set_new(object, name, text ? text : json_string(""));
	if (lossy)
		json_object_set_new(object, "lossy", json_true());
	if (p->omitted == 0)
		return;
	uint64_t omitted = p->omitted + p->head_length - keep + skip;
	json_t *truncated = json_object_get(object, "truncated");
	if (!truncated)
		json_object_set_new(object, "truncated", truncated = json_object());
	json_object_set_new(truncated, name,
		json_pack("{s:I, s:I, s:I}", "omittedBytes", (json_int_t)omitted, "totalBytes",
			(json_int_t)p->total, "headBytes", (json_int_t)keep));
}

/* Add the kept excerpts, or else what the ring still has. */
static void add_streams(json_t *object, struct exec *e, const char *const names[EXEC_STREAMS],
	enum exec_format format)
{
	struct excerpt read[EXEC_STREAMS];
	struct excerpt_parts parts;
	bool kept = e->state == EXEC_DONE && e->collecting;
	uint64_t lost = kept ? e->lost : exec_reread(e, e->output_max, read);
	for (int i = 0; i < EXEC_STREAMS; i++) {
		if (!kept)
			parts = excerpt_parts(&read[i]);
		else
			exec_output(e, (enum exec_stream)i, &parts);
		if (names[i])
			add_parts(object, names[i], &parts, format, e->executor->nonce);
		if (!kept)
			excerpt_finish(&read[i]);
	}
	json_object_set_new(object, "lost", json_integer((json_int_t)lost));
	if (lost > 0)
		set_exact(object, e->state == EXEC_DONE, "lost");
}

void exec_json_add_output(json_t *object, struct exec *e, enum exec_format format)
{
	static const char *const one[EXEC_STREAMS] = {"output", NULL};
	static const char *const two[EXEC_STREAMS] = {"stdout", "stderr"};
	/* Only a terminal turns LF into CR LF. */
	if (e->plan.streams == EXEC_PIPES && format == EXEC_FORMAT_TEXT)
		format = EXEC_FORMAT_RAW;
	add_streams(object, e, e->plan.streams == EXEC_TERMINAL ? one : two, format);
}

/* The container joins lines with newlines, so that the last line has none. */
static void drop_last_newline(json_t *text)
{
	size_t length = json_string_length(text);
	if (length > 0 && json_string_value(text)[length - 1] == '\n')
		(void)json_string_setn_nocheck(/* keeps the newline if memory is short */
			text, json_string_value(text), length - 1);
}

void exec_json_add_container_output(json_t *object, struct exec *e)
{
	static const char *const names[EXEC_STREAMS] = {"stdout", "stderr"};
	add_streams(object, e, names, EXEC_FORMAT_RAW);
	for (unsigned i = 0; i < EXEC_STREAMS; i++)
		drop_last_newline(json_object_get(object, names[i]));
}
