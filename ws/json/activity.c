/* Activities as JSON. Commands are cut, because a list may have hundreds. Texts may be anything but UTF-8. */
#include "ws/json/activity.h"

#include "ring/utf8.h"
#include "ws/json/session.h"
#include "ws/text.h"

#include <string.h>

static json_t *text_or_null(const char *bytes)
{
	return bytes && bytes[0] ? text_string_json(bytes) : json_null();
}

static json_t *command_json(const char *command)
{
	char text[ACTIVITY_COMMAND_MAX + 1];
	size_t length = command ? strlen(command) : 0;
	if (length == 0)
		return json_null();
	length = utf8_cut(command, length, ACTIVITY_COMMAND_MAX);
	memcpy(text, command, length);
	text[length] = '\0';
	return text_string_json(text);
}

json_t *activity_block_json(const struct block *b)
{
	char id[BLOCK_ID_MAX + 1];
	if (!b)
		return json_null();
	block_id(b, id);
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "id", id, "command",
		command_json(b->command), "author",
		b->author || b->exec[0] ? text_or_null(b->author) : json_string("human"), "label",
		text_or_null(b->label), "by", b->exec[0] ? "exec" : "human", "state",
		b->done ? "done" : "running", "startedAt", time_json(b->started_ms), "endedAt",
		time_json(b->done ? b->ended_ms : 0), "exitCode",
		b->done && b->status >= 0 ? json_integer(b->status) : json_null());
}

static json_t *notification_json(const struct activity *a)
{
	if (a->notified_ms == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:i}", "text", text_string_json(a->text), "title",
		text_or_null(a->title), "at", time_json(a->notified_ms), "count", (int)a->notified);
}

static json_t *foreground_json(const struct activity *a)
{
	if (!a->name[0])
		return json_null();
	return json_pack("{s:o, s:o}", "name", text_string_json(a->name), "startedAt",
		time_json(a->started_ms));
}

json_t *activity_json(const struct activity *a)
{
	if (!a || !a->looked)
		return json_null();
	const char *input = state_input_name(a->input);
	return json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:i, s:o, s:b}",
		"status", state_status_name(a->status), "input",
		input ? json_string(input) : json_null(), "certain", a->certain, "since",
		time_json(a->since_ms), "foreground", foreground_json(a), "cwd",
		text_or_null(a->cwd), "cwdCut", a->cwd_cut, "block",
		activity_block_json(blocks_newest(session_blocks(a->session))), "lease",
		lease_json(session_keyboard(a->session)), "bellAt", time_json(a->bell_ms), "bells",
		(int)a->bells, "notification", notification_json(a), "unread", a->unread);
}
