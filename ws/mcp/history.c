/* The tool `history`: commands, lines of the scrollback, matches, or the output of one command. */
#include "ws/mcp/history.h"

#include "ws/mcp/call.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/own.h"
#include "ws/mcp/text.h"
#include "ws/mcp/result_text.h"
#include "ws/mcp/tool_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void finish_history(struct mcp_call *c, json_t *result)
{
	json_object_set_new(result, "session_id", json_string(c->session));
	mcp_finish_formatted(c, result, mcp_history_text);
}

/* The result is a list of the API: "blocks" or "matches", and "next". */
static void on_list(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"blocks", "matches", "next", NULL};
	if (!mcp_succeeded(c, a))
		return;
	json_t *answer = mcp_snake_case(a->json), *result = json_object();
	for (size_t i = 0; names[i]; i++)
		json_object_set(result, names[i], json_object_get(answer, names[i]));
	json_decref(answer);
	finish_history(c, result);
}

static void on_lines(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t omitted;
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = json_pack("{s:O?, s:O?}", "from_line", json_object_get(a->json, "from"),
		"next_line", json_object_get(a->json, "next"));
	json_t *value = mcp_lines_text(json_object_get(a->json, "lines"));
	char *text = value ? strdup(json_string_value(value)) : NULL;
	json_decref(value);
	text = mcp_clip(text, mcp_output_max(c), &omitted);
	json_object_set_new(result, "text", json_string(text ? text : ""));
	json_object_set_new(result, "truncated", json_boolean(omitted > 0));
	free(text);
	finish_history(c, result);
}

char *mcp_block_text(const json_t *answer)
{
	const json_t *value = json_object_get(answer, "text");
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);
	uint64_t omitted = mcp_offset(answer, "omitted"), head = mcp_offset(answer, "head");
	if (!text)
		return NULL;
	if (omitted == 0)
		return mcp_plain(text, length, &length);
	size_t at = head < length ? (size_t)head : length;
	return mcp_join(text, at, text + at, length - at, omitted);
}

static void on_block_output(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = c->kept;
	char *text = mcp_block_text(a->json);
	c->kept = NULL;
	json_object_set_new(result, "output", json_string(text ? text : ""));
	json_object_set(result, "truncated", json_object_get(a->json, "truncated"));
	json_object_set(result, "omitted_bytes", json_object_get(a->json, "omitted"));
	free(text);
	finish_history(c, result);
}

static void on_block(struct mcp_call *c, const struct mcp_answer *a)
{
	char half[24];
	if (!mcp_succeeded(c, a))
		return;
	c->kept = json_pack("{s:o?}", "block", mcp_snake_case(json_object_get(a->json, "block")));
	snprintf(half, sizeof half, "%zu", mcp_output_max(c) / 2);
	const char *const params[] = {"format", "json", "head", half, "tail", half, NULL};
	mcp_request(c, on_block_output, METHOD_GET,
		mcp_path(c, "/blocks/%s/output", mcp_text_arg(c, "block_id")), NULL, params);
}

/* Write an argument as a query parameter to number. Returns it; NULL: the argument is absent. */
static const char *number_param(const struct mcp_call *c, const char *name, char number[24])
{
	if (!json_object_get(c->args, name))
		return NULL;
	snprintf(number, 24, "%lld", (long long)mcp_number_arg(c, name, 0));
	return number;
}

static void ask_blocks(struct mcp_call *c)
{
	char limit[24], before[24], after[24], code[24];
	snprintf(limit, sizeof limit, "%lld", (long long)mcp_number_arg(c, "limit", 20));
	const char *const params[] = {"limit", limit, "before", number_param(c, "before", before),
		"after", number_param(c, "after", after), "author", mcp_text_arg(c, "author"),
		"label", mcp_text_arg(c, "label"), "status", number_param(c, "exit_code", code),
		"state", mcp_text_arg(c, "state"), "text", mcp_text_arg(c, "text"), NULL};
	mcp_request(c, on_list, METHOD_GET, mcp_path(c, "/blocks"), NULL, params);
}

static void ask_lines(struct mcp_call *c)
{
	char from[24], to[24];
	json_int_t first = mcp_number_arg(c, "from_line", 0);
	snprintf(from, sizeof from, "%lld", (long long)first);
	snprintf(to, sizeof to, "%lld", (long long)mcp_number_arg(c, "to_line", first + 500));
	const char *const params[] = {"from", from, "to", to, "format", "json", NULL};
	mcp_request(c, on_lines, METHOD_GET, mcp_path(c, "/scrollback"), NULL, params);
}

void mcp_history(struct mcp_call *c, const struct mcp_answer *a)
{
	char limit[24];
	const char *block = mcp_text_arg(c, "block_id"), *search = mcp_text_arg(c, "search");
	(void)a;
	if (block && !name_is_id(block)) {
		mcp_fail(c, "VALIDATION_FAILED",
			"block_id must be an id of a block, as history returns it", NULL);
	} else if (block) {
		mcp_request(c, on_block, METHOD_GET, mcp_path(c, "/blocks/%s", block), NULL, NULL);
	} else if (search) {
		snprintf(limit, sizeof limit, "%lld", (long long)mcp_number_arg(c, "limit", 20));
		const char *const params[] = {"q", search, "limit", limit, NULL};
		mcp_request(c, on_list, METHOD_GET, mcp_path(c, "/search"), NULL, params);
	} else if (json_object_get(c->args, "from_line")) {
		ask_lines(c);
	} else {
		ask_blocks(c);
	}
}
