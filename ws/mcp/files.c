/* The tools `read_file`, for lines of a text, and `write_file`, which replaces a whole file. */
#include "ws/mcp/tool_table.h"

#include "ws/mcp/own.h"
#include "ws/mcp/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 2000       /* default limit */
#define BYTES (64 << 10) /* of text in one result */

/* Escape invisible characters in a file's text, with a note if there are any. text: taken. */
static char *show_file(char *text)
{
	static const char note[] =
		"\n[\\u{...} stands for an invisible character; structuredContent has it]";
	char *whole = NULL, *was = text ? strdup(text) : NULL;
	char *shown = mcp_escape_text(text);
	if (was && shown && strcmp(was, shown) != 0 && asprintf(&whole, "%s%s", shown, note) < 0)
		whole = NULL;
	free(was);
	if (!whole)
		return shown;
	free(shown);
	return whole;
}

static char *read_text(const json_t *result)
{
	char *text = NULL;
	const char *content = json_string_value(json_object_get(result, "content"));
	const json_t *next = json_object_get(result, "next_offset");
	json_int_t size = json_integer_value(json_object_get(result, "size"));
	if (json_is_true(json_object_get(result, "binary")))
		return asprintf(&text, "[%s, %" PRId64 " bytes: not text, and not shown]",
			       json_string_value(json_object_get(result, "mime_type")),
			       (int64_t)size) < 0
			? NULL
			: text;
	if (json_is_true(json_object_get(result, "line_cut")))
		return asprintf(&text, "%s\n[the line is longer and was cut]", content) < 0 ? NULL
											    : text;
	if (!next)
		return strdup(content ? content : "");
	return asprintf(&text, "%s[there is more: offset %" PRId64 "]", content ? content : "",
		       (int64_t)json_integer_value(next)) < 0
		? NULL
		: text;
}

static char *read_words(json_t *result)
{
	return show_file(read_text(result));
}

static void on_read(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = json_pack("{s:s, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:I}", "session_id",
		c->session, "path", json_object_get(a->json, "path"), "content",
		json_object_get(a->json, "content"), "binary", json_object_get(a->json, "isBinary"),
		"mime_type", json_object_get(a->json, "mimeType"), "size",
		json_object_get(a->json, "size"), "hash", json_object_get(a->json, "hash"),
		"offset", mcp_number_arg(c, "offset", 1));
	json_t *next = json_object_get(a->json, "nextLine");
	if (next)
		json_object_set(result, "next_offset", next);
	if (json_is_true(json_object_get(a->json, "lineCut")))
		json_object_set_new(result, "line_cut", json_true());
	c->exact = true;
	mcp_finish_formatted(c, result, read_words);
}

void mcp_read_file(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_request(c, on_read, METHOD_POST, "/api/read",
		json_pack("{s:O, s:s, s:I, s:I, s:i}", "path", json_object_get(c->args, "path"),
			"sessionId", c->session, "fromLine", mcp_number_arg(c, "offset", 1),
			"maxLines", mcp_number_arg(c, "limit", LINES), "maxBytes", BYTES),
		NULL);
}

static char *write_words(json_t *result)
{
	char *text = NULL;
	if (asprintf(&text, "%s: %" PRId64 " bytes written",
		    json_string_value(json_object_get(result, "path")),
		    (int64_t)json_integer_value(json_object_get(result, "size"))) < 0)
		return NULL;
	return mcp_escape_text(text);
}

static void on_written(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = json_pack("{s:s, s:O?, s:O?, s:I}", "session_id", c->session, "path",
		json_object_get(a->json, "path"), "hash", json_object_get(a->json, "hash"), "size",
		(json_int_t)json_string_length(json_object_get(c->args, "content")));
	c->exact = true;
	mcp_finish_formatted(c, result, write_words);
}

void mcp_write_file(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	json_t *body = json_pack("{s:O, s:O, s:s, s:b}", "path", json_object_get(c->args, "path"),
		"content", json_object_get(c->args, "content"), "sessionId", c->session, "hash", 1);
	if (body && json_object_get(c->args, "expected_hash"))
		json_object_set(body, "expectedHash", json_object_get(c->args, "expected_hash"));
	mcp_request(c, on_written, METHOD_POST, "/api/write", body, NULL);
}
