/* Results of runs as JSON: how the run ended, and its output, which may have a gap in the middle. */
#include "ws/json/run.h"

#include "ring/utf8.h"
#include "ws/json/session.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *run_stream_name(unsigned stream)
{
	assert(stream < RUN_STREAMS);
	return stream == RUN_STDOUT ? "stdout" : "stderr";
}

/* The kept output as text. Updates p to what is sent, because incomplete characters at the gap are omitted. */
static json_t *kept_text(struct excerpt_parts *p, bool *lossy)
{
	struct text_decoder head = {0}, tail = {0};
	if (p->omitted == 0) {
		json_t *whole = text_json(&head, p->head, p->head_length, true);
		*lossy |= head.lossy;
		return whole;
	}
	size_t before = utf8_incomplete(p->head, p->head_length);
	size_t after = utf8_leading_continuations(p->tail, p->tail_length, 3);
	char *text = malloc(TEXT_SIZE(p->head_length) + TEXT_SIZE(p->tail_length));
	if (!text)
		return NULL;
	size_t n = text_decode(&head, p->head, p->head_length - before, text);
	p->head_length = n;
	p->omitted += before + after;
	n += text_decode(&tail, p->tail + after, p->tail_length - after, text + n);
	n += text_decode_end(&tail, text + n);
	json_t *json = json_stringn_nocheck(text, n);
	free(text);
	*lossy |= head.lossy || tail.lossy;
	return json;
}

static json_t *kept_base64(const struct excerpt_parts *p)
{
	if (p->omitted == 0)
		return base64_json(p->head, p->head_length);
	size_t length = p->head_length + p->tail_length;
	unsigned char *bytes = malloc(length + 1);
	if (!bytes)
		return NULL;
	if (p->head_length > 0)
		memcpy(bytes, p->head, p->head_length);
	if (p->tail_length > 0)
		memcpy(bytes + p->head_length, p->tail, p->tail_length);
	json_t *json = base64_json(bytes, length);
	free(bytes);
	return json;
}

bool run_output_json(json_t *body, const struct run_result *result, bool base64)
{
	json_t *truncated = json_object();
	bool lossy = false, good = true;
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		struct excerpt_parts p = result->output[i];
		json_t *output = base64 ? kept_base64(&p) : kept_text(&p, &lossy);
		good &= json_object_set_new(body, run_stream_name(i), output) == 0;
		if (p.omitted > 0)
			json_object_set_new(truncated, run_stream_name(i),
				json_pack("{s:I, s:I, s:I}", "omittedBytes", (json_int_t)p.omitted,
					"totalBytes", (json_int_t)p.total, "headBytes",
					(json_int_t)p.head_length));
	}
	if (json_object_size(truncated) > 0)
		json_object_set(body, "truncated", truncated);
	json_decref(truncated);
	if (lossy)
		json_object_set_new(body, "lossy", json_true());
	return good;
}

char *run_output_text(const struct excerpt_parts *parts)
{
	static const char gap[] = "\n...\n";
	char *text = malloc(parts->head_length + parts->tail_length + sizeof gap);
	if (!text)
		return NULL;
	size_t length = parts->head_length;
	if (length > 0)
		memcpy(text, parts->head, length);
	if (parts->omitted > 0) {
		memcpy(text + length, gap, sizeof gap - 1);
		length += sizeof gap - 1;
	}
	if (parts->tail_length > 0)
		memcpy(text + length, parts->tail, parts->tail_length);
	length += parts->tail_length;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	text[length] = '\0';
	return text;
}

const char *run_end_name(const struct run_result *result)
{
	if (result->timed_out)
		return "timeout";
	return result->cancelled ? "cancelled" : "exited";
}

void run_end_json(json_t *body, const struct run_result *result)
{
	json_object_set_new(body, "exitCode", json_integer(run_exit_code(result)));
	if (WIFSIGNALED(result->status))
		json_object_set_new(body, "signal", signal_json(WTERMSIG(result->status)));
	json_object_set_new(body, "timedOut", json_boolean(result->timed_out));
	if (result->cancelled)
		json_object_set_new(body, "cancelled", json_true());
	json_object_set_new(
		body, "durationMs", json_integer((json_int_t)(result->duration_us / 1000)));
	json_object_set_new(body, "startedAt", time_json(result->started_ms));
	json_object_set_new(body, "endedAt", time_json(result->ended_ms));
	json_object_set_new(body, "outputExact", json_boolean(!result->open));
	if (result->open)
		json_object_set_new(body, "inexact", json_string("late_writers"));
	if (result->survivors > 0)
		json_object_set_new(body, "survivors", json_integer((json_int_t)result->survivors));
}

bool run_json_add_line(json_t *body, const char *field, const char *line)
{
	json_t *old = json_object_get(body, field);
	size_t length = json_string_length(old), more = strlen(line);
	char *text = malloc(length + more + 2);
	if (!text)
		return false;
	if (length > 0)
		memcpy(text, json_string_value(old), length);
	if (length > 0 && text[length - 1] != '\n')
		text[length++] = '\n';
	memcpy(text + length, line, more + 1);
	int rc = json_object_set_new(body, field, json_stringn_nocheck(text, length + more));
	free(text);
	return rc == 0;
}
