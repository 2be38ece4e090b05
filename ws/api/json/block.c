/* Blocks as JSON. Commands are bytes of somebody's: what is no UTF-8 is replaced. */
#include "ws/api/json/block.h"

#include "shell/session/session.h"
#include "ws/api/json/session.h"
#include "ws/text.h"

#include <string.h>

/* People may type and name what is no UTF-8. */
static json_t *text_or_null(const char *bytes)
{
	return bytes ? text_string_json(bytes) : json_null();
}

static json_t *statuses_json(const struct block *b)
{
	if (b->statuses_count == 0)
		return json_null();
	json_t *list = json_array();
	for (size_t i = 0; i < b->statuses_count; i++)
		json_array_append_new(list, json_integer(b->statuses[i]));
	return list;
}

json_t *block_json(const struct session *s, const struct block *b)
{
	char id[BLOCK_ID_MAX + 1];
	const struct stream *bytes = session_bytes(s);
	block_id(b, id);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:b, s:b, s:b, s:b}",
		"id", id, "command", text_or_null(b->command), "author",
		b->author || b->exec[0] ? text_or_null(b->author) : json_string("human"), "label",
		text_or_null(b->label), "by", b->exec[0] ? "exec" : "human", "execId",
		b->exec[0] ? json_string(b->exec) : json_null(), "state",
		b->done ? "done" : "running", "cwd", text_or_null(b->cwd), "cwdAfter",
		text_or_null(b->cwd_after), "startedAt", time_json(b->started_ms), "endedAt",
		time_json(b->done ? b->ended_ms : 0), "exitCode",
		b->done && b->status >= 0 ? json_integer(b->status) : json_null(), "pipeStatus",
		statuses_json(b), "start", (json_int_t)b->start, "end",
		b->done ? json_integer((json_int_t)b->end) : json_null(), "outputExact",
		b->done && b->exact, "inRing", stream_oldest(bytes) <= b->start, "interleavedInput",
		b->interleaved, "suspect", b->suspect);
}
