/* Blocks as JSON. Invalid UTF-8 in commands and names is replaced. */
#include "ws/json/block.h"

#include "shell/session/session.h"
#include "ws/json/session.h"
#include "ws/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* null if the line has been dropped from the scrollback, or there is no screen. */
static json_t *line_json(const struct session *s, const struct block *b,
	bool (*find)(const struct block *b, const struct screen *screen, uint64_t *ret_line))
{
	const struct screen *screen = pane_unlent_screen(&s->pane);
	uint64_t line;
	return screen && find(b, screen, &line) ? json_integer((json_int_t)line) : json_null();
}

static json_t *mark_json(uint64_t offset)
{
	return offset > 0 ? json_integer((json_int_t)offset) : json_null();
}

json_t *block_json(const struct session *s, const struct block *b)
{
	char id[BLOCK_ID_MAX + 1];
	const struct stream *bytes = session_bytes(s);
	block_id(b, id);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:b, s:b, s:b, s:b, s:o, s:o}",
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
		b->interleaved, "suspect", b->suspect, "inputMark", mark_json(b->input_mark),
		"endMark", mark_json(b->done ? b->end_mark : 0));
}

json_t *block_event_json(struct session *s, const struct journal_entry *e)
{
	char id[BLOCK_ID_MAX + 1];
	snprintf(id, sizeof id, "b%" PRIu64, e->block);
	const struct block *b = blocks_find(session_blocks(s), id);
	bool started = e->type == JOURNAL_BLOCK_STARTED;
	struct block shown;
	if (!b)
		return NULL;
	shown = *b;
	if (started) {
		/* The block as it was at its start; it may be done by now. */
		shown.done = false;
		shown.statuses_count = 0;
		shown.cwd_after = NULL;
		shown.interleaved = shown.suspect = false;
	}
	return json_pack("{s:s, s:s, s:o}", "type", "block", "event", started ? "started" : "ended",
		"block", block_json(s, &shown));
}

json_t *block_json_with_lines(const struct session *s, const struct block *b)
{
	json_t *block = block_json(s, b);
	json_object_set_new(block, "line", line_json(s, b, block_line));
	json_object_set_new(
		block, "endLine", b->done ? line_json(s, b, block_end_line) : json_null());
	return block;
}
