/*
 * Tools are recognized by name: those that only read, and exec, which has a key against a second
 * execution.
 */
#include "ws/client/resend.h"

#include "shell/id.h"

#include <stdio.h>
#include <string.h>

#define INTERNAL_ERROR (-32603)
#define KEY_DIGITS 32u
/* Member of params._meta in revisions of the protocol that have no sessions. */
#define REVISION "io.modelcontextprotocol/protocolVersion"

static json_t *params_of(const json_t *message)
{
	return json_object_get(message, "params");
}

/* The name of the called tool; NULL: the message is not a call. */
static const char *tool_of(const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	return method && strcmp(method, "tools/call") == 0
		? json_string_value(json_object_get(params_of(message), "name"))
		: NULL;
}

bool resend_prepare(json_t *message)
{
	const char *tool = tool_of(message);
	json_t *args = json_object_get(params_of(message), "arguments");
	char key[KEY_DIGITS + 1];
	return tool && strcmp(tool, "exec") == 0 && json_is_object(args) &&
		!json_object_get(args, "key") && id_hex(key, sizeof key) == 0 &&
		json_object_set_new(args, "key", json_string(key)) == 0;
}

bool resend_is_safe(const json_t *message)
{
	static const char *const reading[] = {
		"exec_read", "history", "read_file", "session_list", "snapshot", "wait"};
	const char *tool = tool_of(message);
	if (!tool)
		return json_is_object(message); /* a batch may contain unsafe messages */
	for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
		if (strcmp(tool, reading[i]) == 0)
			return true;
	return strcmp(tool, "exec") == 0 &&
		json_is_string(
			json_object_get(json_object_get(params_of(message), "arguments"), "key"));
}

void resend_mark(json_t *message)
{
	json_t *params = params_of(message), *meta = json_object_get(params, "_meta");
	if (tool_of(message) && !meta) {
		meta = json_object();
		json_object_set_new(params, "_meta", meta);
	}
	if (tool_of(message) && json_is_object(meta))
		json_object_set_new(meta, RESEND_META, json_true());
}

static json_t *failure(const json_t *message, const char *tool, bool sent, const char *where)
{
	char text[512];
	const char *code = sent ? "ANSWER_LOST" : "SERVER_AWAY";
	const char *next = sent ? "look before trying again: snapshot, exec_read, history"
				: "try again later; if it stays away, tell the user";
	if (sent)
		snprintf(text, sizeof text,
			"The server at %.200s was lost before it had answered: it is not known whether "
			"%.40s was done",
			where, tool);
	else
		snprintf(text, sizeof text,
			"There is no server at %.200s: nothing of %.40s was done", where, tool);
	bool modern = json_object_get(json_object_get(params_of(message), "_meta"), REVISION);
	return json_pack("{s:[{s:s, s:o}], s:{s:{s:s, s:s, s:s}}, s:b, s:s*}", "content", "type",
		"text", "text", json_sprintf("%s: %s\nnext: %s", code, text, next),
		"structuredContent", "error", "code", code, "message", text, "next", next,
		"isError", 1, "resultType", modern ? "complete" : NULL);
}

json_t *resend_failure(const json_t *message, bool sent, const char *where)
{
	json_t *id = json_object_get(message, "id");
	const char *tool = tool_of(message);
	if (tool)
		return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result",
			failure(message, tool, sent, where));
	return json_pack("{s:s, s:O, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", id, "error", "code",
		INTERNAL_ERROR, "message",
		json_sprintf("The server at %.200s %s", where,
			sent ? "was lost before it had answered" : "cannot be reached"));
}
