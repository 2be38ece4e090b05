/* Each method is a sequence of requests to the API, as tools are. */
#include "ws/mcp/resources.h"

#include "ring/utf8.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/history.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/subscriptions.h"
#include "ws/mcp/terminal.h"
#include "ws/mcp/text.h"
#include "ws/mcp/uri.h"
#include "ws/mcp/visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_BYTES 80u /* of a command */
#define PLAIN "text/plain"

json_t *mcp_resources_templates(void)
{
	return json_pack("{s:[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]}", "resourceTemplates",
		"uriTemplate", MCP_URI_SCREEN, "name", "screen", "description",
		"What a terminal shows now", "mimeType", PLAIN, "uriTemplate", MCP_URI_BLOCK,
		"name", "block", "description",
		"The output of one command; history lists the ids of blocks", "mimeType", PLAIN);
}

/* Listing */

static void next_session(struct mcp_call *c);

/* Add a resource to the list. name and title: taken; title may be NULL. */
static void add_resource(
	const struct mcp_call *c, const struct mcp_uri *uri, json_t *name, json_t *title)
{
	char text[MCP_URI_SIZE];
	mcp_uri_write(uri, text);
	json_array_append_new(json_object_get(c->kept, "resources"),
		json_pack("{s:s, s:o, s:o*, s:s}", "uri", text, "name", name, "title", title,
			"mimeType", PLAIN));
}

/* The beginning of a command, escaped to one line. Returns a new reference, or NULL. */
static json_t *title_of(const json_t *block)
{
	const char *command = json_string_value(json_object_get(block, "command"));
	char seen[VISIBLE_SIZE(TITLE_BYTES)];
	if (!command)
		return NULL;
	visible_text(command, utf8_cut(command, strlen(command), TITLE_BYTES), true, seen);
	return json_string(seen);
}

static void on_blocks(struct mcp_call *c, const struct mcp_answer *a)
{
	const json_t *blocks = json_object_get(a->json, "blocks");
	/* There are none if the request failed, for example because the session is gone. */
	for (size_t i = json_array_size(blocks); i-- > 0;) {
		const json_t *block = json_array_get(blocks, i);
		struct mcp_uri uri = {.block = ""};
		const char *id = json_string_value(json_object_get(block, "id"));
		snprintf(uri.session, sizeof uri.session, "%s", c->session);
		snprintf(uri.block, sizeof uri.block, "%s", id ? id : "");
		if (id && name_is_id(id))
			add_resource(c, &uri, json_sprintf("block %s of %s", id, c->session),
				title_of(block));
	}
	next_session(c);
}

static void next_session(struct mcp_call *c)
{
	char limit[24];
	json_t *todo = json_object_get(c->kept, "todo");
	struct mcp_uri uri = {.block = ""};
	const char *id = json_string_value(json_object_get(json_array_get(todo, 0), "id"));
	if (!id) {
		json_t *result = c->kept;
		c->kept = NULL;
		json_object_del(result, "todo");
		mcp_finish(c, result, NULL);
		return;
	}
	snprintf(c->session, sizeof c->session, "%s", id);
	snprintf(uri.session, sizeof uri.session, "%s", id);
	json_array_remove(todo, 0);
	add_resource(c, &uri, json_sprintf("screen of %s", c->session), NULL);
	snprintf(limit, sizeof limit, "%d", MCP_RESOURCE_BLOCKS);
	const char *const params[] = {"limit", limit, NULL};
	mcp_request(c, on_blocks, METHOD_GET, mcp_path(c, "/blocks"), NULL, params);
}

static void on_sessions(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *next;
	if (!mcp_succeeded(c, a))
		return;
	json_t *page = mcp_page(json_object_get(a->json, "sessions"), mcp_text_arg(c, "cursor"),
		MCP_RESOURCE_SESSIONS, &next);
	if (!page) {
		mcp_fail(c, "OUT_OF_MEMORY", "Out of memory", NULL);
		return;
	}
	c->kept = json_pack("{s:[], s:o, s:s*}", "resources", "todo", page, "nextCursor", next);
	next_session(c);
}

void mcp_resources_list(struct mcp_call *c, const struct mcp_answer *a)
{
	const json_t *cursor = json_object_get(c->args, "cursor");
	(void)a;
	if (cursor && (!json_is_string(cursor) || !name_is_id(json_string_value(cursor))))
		mcp_fail(c, "VALIDATION_FAILED", "Invalid cursor: it must be a nextCursor", NULL);
	else
		mcp_request(c, on_sessions, METHOD_GET, "/api/session/list", NULL, NULL);
}

/* Reading */

/* Parse the argument uri. Returns false if it is invalid; then the call has failed. */
static bool parse_uri(struct mcp_call *c, struct mcp_uri *ret_uri)
{
	const char *text = mcp_text_arg(c, "uri");
	if (!text || !mcp_uri_read(text, ret_uri)) {
		mcp_fail(c, "RESOURCE_NOT_FOUND", "Unknown resource", NULL);
		return false;
	}
	snprintf(c->session, sizeof c->session, "%s", ret_uri->session);
	return true;
}

/* End the call with a text and its metadata. Both are taken; text may be NULL. */
static void finish_contents(struct mcp_call *c, json_t *text, json_t *meta)
{
	json_t *result = json_pack("{s:[{s:O, s:s, s:o, s:{s:o}}]}", "contents", "uri",
		json_object_get(c->args, "uri"), "mimeType", PLAIN, "text",
		text ? text : json_string(""), "_meta", "ringside", meta);
	mcp_finish(c, result, NULL);
}

static void on_screen(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"cursor", "rows", "cols", "version", NULL};
	if (!mcp_succeeded(c, a))
		return;
	json_t *meta = json_object();
	for (size_t i = 0; names[i]; i++)
		json_object_set(meta, names[i], json_object_get(a->json, names[i]));
	finish_contents(c, mcp_lines_text(json_object_get(a->json, "lines")), meta);
}

static void on_block_output(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	char *text = mcp_block_text(a->json);
	json_t *meta = c->kept, *value = json_string(text ? text : "");
	c->kept = NULL;
	free(text);
	json_object_set(meta, "omitted", json_object_get(a->json, "omitted"));
	finish_contents(c, value, meta);
}

static void on_block(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {
		"command", "author", "state", "exitCode", "cwd", "startedAt", "endedAt", NULL};
	char half[24];
	const json_t *block = json_object_get(a->json, "block");
	struct mcp_uri uri;
	if (!mcp_succeeded(c, a) || !parse_uri(c, &uri))
		return;
	c->kept = json_object();
	for (size_t i = 0; names[i]; i++)
		json_object_set(c->kept, names[i], json_object_get(block, names[i]));
	snprintf(half, sizeof half, "%u", MCP_RESOURCE_BYTES / 2);
	const char *const params[] = {"format", "json", "head", half, "tail", half, NULL};
	mcp_request(c, on_block_output, METHOD_GET, mcp_path(c, "/blocks/%s/output", uri.block),
		NULL, params);
}

/* Request the block of an address, or, if it has none, the path `other` of its session. */
static void ask_for(struct mcp_call *c, const struct mcp_uri *uri, mcp_step on_one,
	const char *other, mcp_step on_other)
{
	if (uri->block[0])
		mcp_request(
			c, on_one, METHOD_GET, mcp_path(c, "/blocks/%s", uri->block), NULL, NULL);
	else
		mcp_request(c, on_other, METHOD_GET, mcp_path(c, "%s", other), NULL, NULL);
}

void mcp_resources_read(struct mcp_call *c, const struct mcp_answer *a)
{
	struct mcp_uri uri;
	(void)a;
	if (parse_uri(c, &uri))
		ask_for(c, &uri, on_block, "/screen", on_screen);
}

/* Subscribing, to what the client may read */

static void on_readable(struct mcp_call *c, const struct mcp_answer *a)
{
	struct mcp_uri uri;
	if (!mcp_succeeded(c, a) || !parse_uri(c, &uri))
		return;
	int rc = mcp_subscribe(c->mcp, c->scope, &c->principal, &uri);
	if (rc < 0)
		mcp_fail(c, rc == -ENOMEM ? "OUT_OF_MEMORY" : "LIMIT_REACHED",
			rc == -ENOMEM ? "Out of memory" : "Too many subscriptions", NULL);
	else
		mcp_finish(c, json_object(), NULL);
}

void mcp_resources_subscribe(struct mcp_call *c, const struct mcp_answer *a)
{
	struct mcp_uri uri;
	(void)a;
	if (parse_uri(c, &uri))
		ask_for(c, &uri, on_readable, "", on_readable);
}

void mcp_resources_unsubscribe(struct mcp_call *c, const struct mcp_answer *a)
{
	struct mcp_uri uri;
	(void)a;
	if (!parse_uri(c, &uri))
		return;
	mcp_unsubscribe(c->mcp, c->scope, &uri);
	mcp_finish(c, json_object(), NULL);
}
