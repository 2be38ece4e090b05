/* A list of requests to clients. session_prompt_is_open() says whether a prompt is still open. */
#include "ws/mcp/elicit.h"

#include "shell/id.h"
#include "shell/session/sessions.h"
#include "shell/session/type.h"
#include "ws/dispatcher.h"
#include "ws/mcp/call.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/notify.h"
#include "ws/mcp/rpc.h"
#include "ws/mcp/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define PROGRAM_MAX 32u /* bytes of a program's name that are shown */

enum answer { WAITING, ACCEPTED, DECLINED };

struct mcp_elicit {
	struct mcp_elicit *prev, *next;
	char id[MCP_ELICIT_ID_SIZE]; /* of the elicitation and of the request */
	char scope[MCP_SESSION_ID_SIZE];
	char session[NAME_ID_MAX + 1];
	uint64_t epoch; /* of the session */
	struct prompt_id prompt;
	enum answer answer;
};

static void drop(struct mcp_elicits *all, struct mcp_elicit *e)
{
	DL_DELETE(all->all, e);
	all->count--;
	free(e);
}

/* Whether the prompt is still open. */
static bool is_open(const struct mcp *m, const struct mcp_elicit *e)
{
	const struct session *s = sessions_find(m->dispatcher->sessions, e->session);
	return s && session_epoch(s) == e->epoch && session_prompt_is_open(s, &e->prompt);
}

/* The request that this client got for the open prompt in the call's session; NULL: none. */
static struct mcp_elicit *find_open(struct mcp_call *c)
{
	struct mcp_elicit *e;
	DL_FOREACH (c->mcp->elicits.all, e)
		if (strcmp(e->scope, c->scope) == 0 && strcmp(e->session, c->session) == 0 &&
			is_open(c->mcp, e))
			return e;
	return NULL;
}

static void make_room(struct mcp_elicits *all, const char *scope)
{
	struct mcp_elicit *e, *oldest = NULL;
	size_t count = 0;
	DL_FOREACH (all->all, e) {
		if (strcmp(e->scope, scope) != 0)
			continue;
		oldest = oldest ? oldest : e;
		count++;
	}
	if (count >= MCP_ELICITS_MAX)
		drop(all, oldest);
	else if (all->count >= MCP_ELICITS_TOTAL)
		drop(all, all->all);
}

static struct mcp_elicit *create(struct mcp_call *c)
{
	struct mcp_elicits *all = &c->mcp->elicits;
	const struct session *s = sessions_find(c->mcp->dispatcher->sessions, c->session);
	struct mcp_elicit *e = s ? calloc(1, sizeof *e) : NULL;
	if (!e || id_hex(e->id, sizeof e->id) < 0) {
		free(e);
		return NULL;
	}
	make_room(all, c->scope);
	snprintf(e->scope, sizeof e->scope, "%s", c->scope);
	snprintf(e->session, sizeof e->session, "%s", c->session);
	e->epoch = session_epoch(s);
	session_prompt(s, &e->prompt);
	DL_APPEND(all->all, e);
	all->count++;
	mcp_update_timer(c->mcp);
	return e;
}

/* The message for the person. The program has chosen its name, so it is escaped. */
static json_t *request_text(const char *session, const json_t *terminal)
{
	const char *name = json_string_value(
		json_object_get(json_object_get(terminal, "foreground"), "name"));
	char seen[VISIBLE_SIZE(PROGRAM_MAX)] = "";
	if (name)
		visible_text(name, strnlen(name, PROGRAM_MAX), true, seen);
	return json_sprintf(
		"%s in the terminal %s asks for a secret. Open the terminal to type it there.",
		seen[0] ? seen : "A program", session);
}

/* The address to open; NULL: it is not absolute, as clients require. */
static const char *address(const json_t *terminal)
{
	const char *url = json_string_value(json_object_get(terminal, "human_url"));
	return url && strncmp(url, "http", 4) == 0 ? url : NULL;
}

static bool asks_for_secret(const json_t *terminal)
{
	const char *input = json_string_value(json_object_get(terminal, "input"));
	return input && strcmp(input, "password") == 0;
}

/* Ask the client. Returns false if that is not possible. */
static bool send_elicitation(struct mcp_call *c, json_t *terminal)
{
	const char *url = address(terminal);
	if (!c->send || !url)
		return false;
	struct mcp_elicit *e = create(c);
	if (!e)
		return false;
	c->send(c->user,
		json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:o}}", "jsonrpc", "2.0", "id", e->id,
			"method", "elicitation/create", "params", "mode", "url", "elicitationId",
			e->id, "url", url, "message", request_text(e->session, terminal)));
	return true;
}

/* Whether the earlier call asked about the prompt that is still open. */
static bool was_asked(const struct mcp_call *c)
{
	const struct session *s = c->resume.exec[0]
		? sessions_find(c->mcp->dispatcher->sessions, c->resume.session)
		: NULL;
	return s && strcmp(c->session, c->resume.session) == 0 &&
		session_epoch(s) == c->resume.epoch && session_prompt_is_open(s, &c->resume.prompt);
}

/* Whether the call can be continued: it does nothing but wait for its command. */
static bool can_continue(const struct mcp_call *c)
{
	return c->exec[0] &&
		(strcmp(c->tool->name, "exec") == 0 || strcmp(c->tool->name, "exec_read") == 0);
}

json_t *mcp_elicit_required(struct mcp_call *c, const json_t *terminal)
{
	const struct session *s = sessions_find(c->mcp->dispatcher->sessions, c->session);
	const char *url = address(terminal);
	char state[MCP_RESUME_SIZE];
	if (!c->can_require_input || !asks_for_secret(terminal) || !url || !s || !can_continue(c) ||
		was_asked(c))
		return NULL;
	json_int_t offset = json_integer_value(json_object_get(terminal, "offset"));
	struct mcp_resume resume = {.epoch = session_epoch(s), .after = (uint64_t)offset};
	snprintf(resume.session, sizeof resume.session, "%s", c->session);
	snprintf(resume.exec, sizeof resume.exec, "%s", c->exec);
	session_prompt(s, &resume.prompt);
	mcp_resume_sign(&resume, &c->principal, c->mcp->key, state);
	return json_pack("{s:s, s:{s:{s:s, s:{s:s, s:s, s:o}}}, s:s}", "resultType",
		"input_required", "inputRequests", MCP_ELICIT_KEY, "method", "elicitation/create",
		"params", "mode", "url", "url", url, "message", request_text(c->session, terminal),
		"requestState", state);
}

bool mcp_elicit_accepted(const json_t *responses)
{
	const json_t *response = json_object_get(responses, MCP_ELICIT_KEY);
	const char *action = json_string_value(json_object_get(response, "action"));
	return action && strcmp(action, "accept") == 0;
}

/* Whether the person has accepted the request, or is asked now. */
static bool is_on_its_way(struct mcp_call *c, json_t *terminal)
{
	if (c->can_require_input)
		return was_asked(c) && c->resume.accepted;
	const struct mcp_elicit *e = find_open(c);
	return e ? e->answer == ACCEPTED : send_elicitation(c, terminal);
}

void mcp_elicit(struct mcp_call *c, json_t *terminal)
{
	if (!asks_for_secret(terminal) || !is_on_its_way(c, terminal))
		return;
	json_object_del(terminal, "human_url");
	json_object_set_new(terminal, "elicited", json_true());
}

void mcp_elicit_answered(struct mcp *m, const struct rpc_message *response, const char *scope)
{
	const char *id = json_string_value(response->id);
	const json_t *action = json_object_get(response->result, "action");
	bool accepted = json_string_length(action) == strlen("accept") &&
		strcmp(json_string_value(action), "accept") == 0;
	struct mcp_elicit *e;
	DL_FOREACH (m->elicits.all, e)
		if (id && strcmp(e->id, id) == 0 && strcmp(e->scope, scope) == 0)
			e->answer = accepted ? ACCEPTED : DECLINED;
}

void mcp_elicit_forget(struct mcp *m, const char *scope)
{
	struct mcp_elicit *e, *next;
	DL_FOREACH_SAFE (m->elicits.all, e, next)
		if (strcmp(e->scope, scope) == 0)
			drop(&m->elicits, e);
}

void mcp_elicit_tick(struct mcp *m)
{
	struct mcp_elicit *e, *next;
	DL_FOREACH_SAFE (m->elicits.all, e, next) {
		if (is_open(m, e))
			continue;
		json_t *end = rpc_notification("notifications/elicitation/complete",
			json_pack("{s:s}", "elicitationId", e->id));
		/* If the client has no stream now, try again later. */
		if (mcp_notify_send(m, e->scope, end))
			drop(&m->elicits, e);
	}
}

void mcp_elicit_close(struct mcp_elicits *all)
{
	while (all->all)
		drop(all, all->all);
}
