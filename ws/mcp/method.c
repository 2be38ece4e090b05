/* The methods of the protocol, for both kinds of revisions. */
#include "ws/dispatcher.h"
#include "ws/mcp/call.h"
#include "ws/mcp/exchange_internal.h"
#include "ws/mcp/tool_table.h"
#include "ws/mcp/resources.h"
#include "ws/mcp/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_TTL_MS 300000
#define DISCOVER_TTL_MS 3600000

const char mcp_instructions[] =
	"Terminals that people and agents share. Without session_id you use your own session.\n"
	"exec answers when the command has ended, when it certainly waits for input, or after yield_ms. The command then "
	"runs on: exec_read waits for more. Only timeout_ms ends it.\n"
	"If the session is busy, commands wait for their turn; exec_signal ends one that hangs, session_create gives another "
	"shell.\n"
	"After `exit` the next exec in your own session gets a new shell; elsewhere use session_create.\n"
	"If terminal.input is password: never type it. Give the person human_url, unless they were asked (elicited), and "
	"wait with exec_read.\n"
	"For programs (editors, REPLs, pagers, y/n) use send_keys, which answers with what they print.\n"
	"Any answer may report under \"also\" commands that have ended meanwhile.";

/* For clients without a scope. */
static const char instructions_shared[] =
	"\nOver this transport all clients with your name share one session without session_id: session_create makes your own.";

static void on_asked(void *user, json_t *message)
{
	struct mcp_item *i = user;
	free(i->asked);
	i->asked = dump_json(message);
	i->exchange->needs_stream |= i->asked != NULL;
}

static void on_called(void *user, json_t *result)
{
	struct mcp_item *i = user;
	mcp_item_result(i, result);
	if (!i->starting)
		mcp_exchange_advance(i->exchange);
}

/* Add how long the result, taken, may be cached. Rights differ, so it is not cached for all. */
static json_t *cacheable(const struct mcp_exchange *x, json_t *result, json_int_t ms)
{
	if (x->modern) {
		json_object_set_new(result, "ttlMs", json_integer(ms));
		json_object_set_new(result, "cacheScope", json_string("private"));
	}
	return result;
}

/* Check that a list of one page is requested without a cursor. Returns false after answering i. */
static bool is_first_page(struct mcp_item *i, const struct rpc_message *m)
{
	if (!json_object_get(m->params, "cursor"))
		return true;
	mcp_item_error(i, 200, RPC_INVALID_PARAMS, "Invalid cursor: there is only one page", NULL);
	return false;
}

static void list_tools(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	struct mcp_exchange *x = i->exchange;
	const struct principal *p = &x->request->principal;
	bool trusted = p->role == ROLE_DRIVER &&
		access_may(x->mcp->dispatcher->access, p, ROUTE_OWNER_OR_TRUSTED);
	size_t list = trusted ? MCP_TRUSTED : (size_t)p->role;
	if (is_first_page(i, m))
		mcp_item_result(i,
			cacheable(x,
				json_pack("{s:O}", "tools",
					mcp_tools_list(&x->mcp->tools, list, sender->client)),
				LIST_TTL_MS));
}

static void list_templates(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	(void)sender;
	if (is_first_page(i, m))
		mcp_item_result(i, cacheable(i->exchange, mcp_resources_templates(), LIST_TTL_MS));
}

/* Calls */

/* o: tool, begin, args, done, bare and resume are set; the rest is filled in. */
static void start_call(struct mcp_item *i, const struct rpc_message *m,
	const struct mcp_sender *sender, struct mcp_call_options *o)
{
	struct mcp_exchange *x = i->exchange;
	json_t *token = json_object_get(m->meta, "progressToken");
	if (json_is_string(token) || json_is_integer(token))
		i->token = json_incref(token);
	x->mcp->dispatcher->metrics->mcp_calls++;
	i->starting = true;
	o->mcp = x->mcp;
	o->principal = &x->request->principal;
	o->peer = x->request->peer;
	o->author = sender->client;
	o->scope = x->scope;
	o->restored = sender->restored;
	o->retried = json_is_true(json_object_get(m->meta, MCP_META_AGAIN));
	o->slot = &i->call;
	o->can_require_input = sender->elicits && x->modern;
	o->send = sender->elicits && !x->modern && x->accepts_stream ? on_asked : NULL;
	o->user = i;
	mcp_call_start(o);
	i->starting = false;
}

/* Read requestState, if there is one. Returns false after answering i if it is invalid. */
static bool read_state(struct mcp_item *i, const struct rpc_message *m,
	struct mcp_resume *ret_resume, bool *ret_resumes)
{
	const struct mcp_exchange *x = i->exchange;
	const json_t *state = x->modern ? json_object_get(m->params, "requestState") : NULL;
	const char *text = json_string_value(state);
	*ret_resumes = state != NULL;
	if (!state)
		return true;
	if (!text || !mcp_resume_read(text, &x->request->principal, x->mcp->key, ret_resume)) {
		mcp_item_error(i, 200, RPC_INVALID_PARAMS,
			"Invalid requestState: it must be one that this client received", NULL);
		return false;
	}
	ret_resume->accepted = mcp_elicit_accepted(json_object_get(m->params, "inputResponses"));
	return true;
}

static void call_tool(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	const json_t *name = json_object_get(m->params, "name");
	json_t *args = json_object_get(m->params, "arguments");
	if (!json_is_string(name) || (args && !json_is_object(args))) {
		mcp_item_error(i, 200, RPC_INVALID_PARAMS,
			"name must be a string, arguments an object", NULL);
		return;
	}
	const struct mcp_tool *tool = mcp_tools_find(
		&i->exchange->mcp->tools, json_string_value(name));
	if (!tool) {
		char message[160];
		snprintf(message, sizeof message, "Unknown tool: %.100s", json_string_value(name));
		mcp_item_error(i, 200, RPC_INVALID_PARAMS, message, NULL);
		return;
	}
	struct mcp_resume resume;
	bool resumes, in_session;
	if (!read_state(i, m, &resume, &resumes))
		return;
	mcp_step begin = mcp_tool_begin(tool->name, &in_session);
	start_call(i, m, sender,
		&(struct mcp_call_options){.tool = tool,
			.resume = resumes ? &resume : NULL,
			.begin = begin,
			.in_session = in_session,
			.args = args ? json_incref(args) : json_object(),
			.done = on_called});
}

/* Resources */

/* Respond with an error. A session that the client may not see is reported like a missing one. */
static void fail_resource(struct mcp_item *i, json_t *error)
{
	static const char *const limits[] = {"LIMIT_REACHED", "QUOTA_REACHED"};
	static const char *const internal[] = {"INTERNAL_ERROR", "OUT_OF_MEMORY", "RESOURCE_BUSY"};
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(json_object_get(error, "message"));
	enum rpc_code number = i->exchange->modern ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND;
	for (size_t n = 0; n < sizeof limits / sizeof *limits; n++)
		if (code && strcmp(code, limits[n]) == 0)
			number = RPC_LIMIT_REACHED;
	for (size_t n = 0; n < sizeof internal / sizeof *internal; n++)
		if (code && strcmp(code, internal[n]) == 0)
			number = RPC_INTERNAL_ERROR;
	if (code && strcmp(code, "VALIDATION_FAILED") == 0)
		number = RPC_INVALID_PARAMS;
	mcp_item_error(i, 200, number, message ? message : "The request failed",
		json_pack("{s:s?}", "code", code));
}

static void on_resource(void *user, json_t *result)
{
	struct mcp_item *i = user;
	json_t *error = json_object_get(result, "error");
	if (error) {
		fail_resource(i, error);
		json_decref(result);
	} else {
		mcp_item_result(i, result ? cacheable(i->exchange, result, 0) : NULL);
	}
	if (!i->starting)
		mcp_exchange_advance(i->exchange);
}

/* Run a method as a call. Only its result differs from a tool's. */
static void call_resource(struct mcp_item *i, const struct rpc_message *m,
	const struct mcp_sender *sender, mcp_step begin)
{
	static const struct mcp_tool tool = {.name = "resources", .role = ROLE_VIEWER};
	start_call(i, m, sender,
		&(struct mcp_call_options){.tool = &tool,
			.begin = begin,
			.bare = true,
			.args = m->params ? json_incref(m->params) : json_object(),
			.done = on_resource});
}

static void list_resources(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	call_resource(i, m, sender, mcp_resources_list);
}

static void read_resource(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	call_resource(i, m, sender, mcp_resources_read);
}

/* Whether the client can have a stream of notifications. Returns false after answering i. */
static bool has_stream(struct mcp_item *i)
{
	if (i->exchange->scope[0])
		return true;
	mcp_item_error(i, 404, RPC_METHOD_NOT_FOUND, "Subscriptions require a session", NULL);
	return false;
}

static void subscribe(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	if (has_stream(i))
		call_resource(i, m, sender, mcp_resources_subscribe);
}

static void unsubscribe(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	if (has_stream(i))
		call_resource(i, m, sender, mcp_resources_unsubscribe);
}

/* Other methods */

static void discover(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	bool alone = i->exchange->scope[0] != '\0';
	char instructions[sizeof mcp_instructions + sizeof instructions_shared];
	(void)m;
	(void)sender;
	snprintf(instructions, sizeof instructions, "%s%s", mcp_instructions,
		alone ? "" : instructions_shared);
	mcp_item_result(i,
		json_pack("{s:o, s:{s:{}, s:{s:b}}, s:s, s:I, s:s}", "supportedVersions",
			mcp_versions_json(), "capabilities", "tools", "resources", "subscribe", 1,
			"instructions", instructions, "ttlMs", (json_int_t)DISCOVER_TTL_MS,
			"cacheScope", "public"));
}

/* ping and logging/setLevel. All log messages have level info, and none is filtered. */
static void answer_empty(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	(void)m;
	(void)sender;
	mcp_item_result(i, json_object());
}

#define BOTH 3
#define LEGACY 1
#define MODERN 2

static const struct {
	const char *name;
	void (*begin)(
		struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender);
	int kinds; /* of revisions that have the method */
} methods[] = {
	{"tools/call", call_tool, BOTH},
	{"tools/list", list_tools, BOTH},
	{"resources/list", list_resources, BOTH},
	{"resources/templates/list", list_templates, BOTH},
	{"resources/read", read_resource, BOTH},
	{"resources/subscribe", subscribe, LEGACY},
	{"resources/unsubscribe", unsubscribe, LEGACY},
	{"server/discover", discover, MODERN},
	{"ping", answer_empty, LEGACY},
	{"logging/setLevel", answer_empty, LEGACY},
};

void mcp_method_begin(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender)
{
	int kind = i->exchange->modern ? MODERN : LEGACY;
	for (size_t n = 0; n < sizeof methods / sizeof *methods; n++)
		if ((methods[n].kinds & kind) && strcmp(methods[n].name, m->method) == 0) {
			methods[n].begin(i, m, sender);
			return;
		}
	mcp_item_error(i, 404, RPC_METHOD_NOT_FOUND, "Unknown method", NULL);
}
